// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle

/// Serves the clients of a Unix socket that listens already, as those of the TCP port are.
struct LocalService: Service {
    /// The owner of the socket closes it.
    let socket: Int32
    let connections: EndpointChannel
    let logger: Logger

    func run() async throws {
        let own = try OwnedDescriptor(of: "dup") { fcntl(socket, F_DUPFD_CLOEXEC, 0) }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .bind(own.release()) { [connections, logger] in
                connections.setup(channel: $0, logger: logger)
            }
        await withGracefulShutdownHandler {
            await accept(from: listener)
        } onGracefulShutdown: {
            listener.channel.close(promise: nil)
        }
    }

    private func accept(from listener: NIOAsyncChannel<EndpointChannel.Value, Never>) async {
        await withDiscardingTaskGroup { [connections, logger] group in
            // It ends with an error when the listener is closed.
            try? await listener.executeThenClose { clients in
                for try await client in clients {
                    group.addTask {
                        await withGracefulShutdownHandler {
                            await connections.handle(value: client, logger: logger)
                        } onGracefulShutdown: {
                            client.channel.pipeline.fireUserInboundEventTriggered(
                                ChannelShouldQuiesceEvent())
                        }
                    }
                }
            }
        }
    }
}
