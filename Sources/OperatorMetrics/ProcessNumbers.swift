// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// What Prometheus' own clients tell of a process, under the same names.
enum ProcessNumbers {
    static var families: [MetricFamily] {
        var usage = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        let seconds = [usage.ru_utime, usage.ru_stime].reduce(0.0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
        var families = [
            MetricFamily.counter(
                "process_cpu_seconds_total", "Time of processors, in seconds.", seconds)
        ]
        // Where /proc is not there, nothing is said of these.
        if let statm = try? readFile("/proc/self/statm", limit: 4_096),
            let pages = String(decoding: statm, as: UTF8.self).split(separator: " ").dropFirst()
                .first,
            let count = Double(pages)
        {
            families.append(
                .gauge(
                    "process_resident_memory_bytes", "Memory in use, in bytes.",
                    count * Double(getpagesize())))
        }
        if let descriptors = try? Folder.open(at: "/proc/self/fd").names() {  // As above.
            families.append(
                .gauge("process_open_fds", "Descriptors that are open.", Double(descriptors.count)))
        }
        return families
    }
}
