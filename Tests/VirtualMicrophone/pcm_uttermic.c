// SPDX-License-Identifier: Apache-2.0
//
// A sound card that exists only in user space: an ALSA external I/O plug-in (pcm_ioplug.h) whose
// converter is CLOCK_MONOTONIC. Frame i is captured at t0 + (i + 1) / rate, whether or not a
// program reads it, and its value is a function of i, so that a test can tell which frame it got.
//
// Like a card and its driver,
//   - it interrupts once a period (a timerfd) and is readable when avail_min frames wait;
//   - its ring is overwritten by newer frames when the reader is late;
//   - it stops with EPIPE when the stop threshold is reached, and frames go on being lost until
//     it is started again;
//   - it can be opened once (EBUSY).
//
// A card is a folder (the argument DIR) with two files:
//   card   its properties, a "name value value ..." a line: rates, channels, formats, periods,
//          period_bytes, buffer_bytes, always_stops, chunk, content, loop
//   state  64 native 64-bit words, mapped: words 0-31 are the card's account of what it did,
//          words 32-63 are commands of the test; enum word below
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum word {
    // The account.
    OPENS = 0,      // how often the card was opened
    STARTS,         // how often it was started
    T0,             // CLOCK_MONOTONIC of the start of frame 0, ns
    RATE,           // what was agreed on
    CHANNELS,
    PERIOD,         // frames
    BUFFER,         // frames
    AVAIL_MIN,      // frames
    CAPTURED,       // frames since t0 that the driver has seen
    STOPS,          // overruns that stopped the card
    LOST,           // frames lost by those stops and by suspending
    STALE,          // frames read after newer ones had overwritten them
    UNPLUGGED_AT,   // frames since t0 when the card went away
    LAST_START,     // the frame at which the card was started last
    CLOSES,
    FORMAT,
    INTERRUPTS,     // times that a reader was told to come
    // Commands.
    BUSY = 32,      // open says EBUSY
    DENIED,         // open says EACCES
    UNPLUG,         // 1: gone at once, with its ring; 2: gone once the ring has been read
    MUTE_CLOCK,     // the card delivers nothing any more
    SUSPEND,        // 1: suspends, and resumes when asked; 2: cannot be resumed
    POSITION,       // the frames captured since the start, plus 1; 0: what the clock says
    STUCK,          // like MUTE_CLOCK, until it is started anew
    BLOCK,          // the driver does not return from 1: preparing; 2: opening; 4: closing
    MISREAD,        // reads 1: are refused (EAGAIN); 2: claim twice as much as was asked for
    FAIL,           // this error comes instead of frames, though it can be prepared; plus 4096:
                    // instead of the position
    WORDS = 64,
};

enum { LIST = 16 };

struct range {
    unsigned count;
    unsigned values[LIST];
};

struct card {
    snd_pcm_ioplug_t io;
    volatile uint64_t *state;
    int state_fd;
    int timer_fd;
    struct itimerspec armed;  // what the timer was set to last
    int always_stops;
    int loop;
    uint64_t chunk;           // frames by which the position moves, like a sound server's; 0: 1
    const int16_t *content;
    uint64_t content_frames;

    uint64_t t0;              // ns; 0 before the first start
    uint64_t base;            // the frame that the ring's frame 0 is
    uint64_t seen;            // ring frames that the driver knows of
    uint64_t appl;            // ring frames that the reader has taken, as last known
    uint64_t unread_from;     // the first frame lost by a stop, plus 1; 0: none
    int running;
    int suspended;
    int gone;
    snd_pcm_uframes_t avail_min;
    snd_pcm_uframes_t stop_threshold;
    snd_pcm_uframes_t boundary;
};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

// Does not return while the test says so.
static void block(volatile uint64_t *state, uint64_t where) {
    while (state[BLOCK] & where) usleep(1000);
}

// Whether the card delivers nothing, though it runs.
static int is_mute(const struct card *card) {
    return card->state[MUTE_CLOCK] || card->state[STUCK];
}

static uint64_t frames_now(const struct card *card) {
    if (card->state[POSITION]) return card->state[POSITION] - 1;
    return (now_ns() - card->t0) * card->io.rate / 1000000000ull;
}

// The frames in the ring by now, as the driver may know them.
static uint64_t ring_now(const struct card *card) {
    uint64_t frames = frames_now(card) - card->base;
    return card->chunk ? frames / card->chunk * card->chunk : frames;
}

// The frames between two interrupts.
static uint64_t stride(const struct card *card) {
    return card->chunk ? card->chunk : card->io.period_size;
}

// The moment when the driver can hand over `frames` frames.
static uint64_t captured_at(const struct card *card, uint64_t frames) {
    return card->t0 + (frames * 1000000000ull + card->io.rate - 1) / card->io.rate;
}

// What was said at frame `index`. Tests compute the same: see VirtualMicrophone.sample(at:).
static int16_t sample(const struct card *card, uint64_t index, unsigned channel) {
    if (card->content) {
        if (index >= card->content_frames) {
            if (!card->loop || card->content_frames == 0) return 0;
            index %= card->content_frames;
        }
        return card->content[index];
    }
    uint64_t x = (index + 1) * 0x9E3779B97F4A7C15ull + channel * 0xD1B54A32D192ED03ull;
    x ^= x >> 32;
    x *= 0xBF58476D1CE4E5B9ull;
    return (int16_t)(x >> 48);
}

// Makes the descriptor readable at the first interrupt that finds avail_min frames, as the
// kernel's poll does; at once when they are known to wait.
static void arm(struct card *card, uint64_t appl) {
    struct itimerspec when = {{0, 0}, {0, 0}};
    if (card->running && !is_mute(card)) {
        uint64_t need = appl + card->avail_min, step = stride(card);
        uint64_t at = 1;
        if (card->seen < need)
            at = captured_at(card, card->base + (need + step - 1) / step * step);
        when.it_value.tv_sec = (time_t)(at / 1000000000ull);
        when.it_value.tv_nsec = (long)(at % 1000000000ull);
    } else if (card->gone || card->suspended) {
        when.it_value.tv_nsec = 1;
    }
    // A driver sets no timer because a reader asks it for its position.
    if (memcmp(&when, &card->armed, sizeof when) == 0) return;
    card->armed = when;
    timerfd_settime(card->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void freeze(struct card *card) {
    uint64_t frames = ring_now(card);
    if (frames > card->seen) card->seen = frames;
    card->state[CAPTURED] = card->base + card->seen;
    card->running = 0;
}

static void obey(struct card *card) {
    if (card->state[UNPLUG] && !card->gone) {
        if (card->running && !is_mute(card)) freeze(card);
        card->running = 0;
        card->gone = 1;
        card->state[UNPLUGGED_AT] = card->base + card->seen;
    }
    if (card->state[SUSPEND] && !card->suspended && card->running) {
        freeze(card);
        card->suspended = (int)card->state[SUSPEND];
        card->state[SUSPEND] = 0;
        snd_pcm_ioplug_set_state(&card->io, SND_PCM_STATE_SUSPENDED);
    }
    if (card->gone && (card->state[UNPLUG] == 1 || card->seen <= card->io.appl_ptr))
        snd_pcm_ioplug_set_state(&card->io, SND_PCM_STATE_DISCONNECTED);
}

static snd_pcm_sframes_t card_pointer(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    card->appl = io->appl_ptr;
    obey(card);
    if (card->state[FAIL] > 4096) return -(snd_pcm_sframes_t)(card->state[FAIL] - 4096);
    if (card->running && !is_mute(card)) {
        uint64_t frames = ring_now(card);
        if (frames > card->seen) card->seen = frames;
        card->state[CAPTURED] = card->base + card->seen;
        snd_pcm_uframes_t stop =
            card->always_stops ? io->buffer_size : card->stop_threshold;
        if (card->seen - card->appl >= stop) {
            card->running = 0;
            card->state[STOPS]++;
            card->unread_from = card->base + card->appl + 1;
            return -EPIPE;
        }
    }
    arm(card, card->appl);
    return (snd_pcm_sframes_t)(card->seen % card->boundary);
}

static int card_start(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    obey(card);
    if (card->gone) return -ENODEV;
    if (card->t0 == 0) {
        card->t0 = now_ns();
        card->state[T0] = card->t0;
    }
    card->base = frames_now(card);
    card->seen = 0;
    card->running = 1;
    card->state[STUCK] = 0;
    card->suspended = 0;
    if (card->unread_from) card->state[LOST] += card->base - (card->unread_from - 1);
    card->unread_from = 0;
    card->state[LAST_START] = card->base;
    card->state[STARTS]++;
    arm(card, 0);
    return 0;
}

static int card_stop(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    if (card->running) freeze(card);
    arm(card, card->appl);
    return 0;
}

static int card_prepare(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    block(card->state, 1);
    obey(card);
    if (card->gone) return -ENODEV;
    if (card->suspended || card->running) card->unread_from = card->base + card->appl + 1;
    card->suspended = 0;
    card->running = 0;
    card->seen = 0;
    card->appl = 0;
    return 0;
}

static int card_resume(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    if (card->suspended != 1) return 0;
    uint64_t frames = frames_now(card);
    card->state[LOST] += frames - (card->base + card->seen);
    card->base = frames - card->seen;
    card->suspended = 0;
    card->running = 1;
    snd_pcm_ioplug_set_state(io, SND_PCM_STATE_RUNNING);
    arm(card, io->appl_ptr);
    return 0;
}

static void store(const struct card *card, unsigned char *at, int16_t value) {
    uint32_t wide = (uint32_t)(uint16_t)value << 16 | 0x5A5A;
    switch (card->io.format) {
    case SND_PCM_FORMAT_S32_LE: memcpy(at, &wide, 4); break;
    case SND_PCM_FORMAT_S24_LE: wide = (uint32_t)((int32_t)wide >> 8); memcpy(at, &wide, 4); break;
    case SND_PCM_FORMAT_S24_3LE: wide >>= 8; memcpy(at, &wide, 3); break;
    case SND_PCM_FORMAT_U8: *at = (unsigned char)((value >> 8) + 128); break;
    default: memcpy(at, &value, 2); break;
    }
}

static snd_pcm_sframes_t card_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
                                       snd_pcm_uframes_t offset, snd_pcm_uframes_t size) {
    struct card *card = io->private_data;
    if (card->gone && card->state[UNPLUG] == 1) return -ENODEV;
    if (card->state[MISREAD] == 1) return -EAGAIN;
    if (card->state[FAIL]) return -(snd_pcm_sframes_t)card->state[FAIL];
    uint64_t first = io->appl_ptr, hw = card->seen;
    if (card->running && !is_mute(card)) hw = frames_now(card) - card->base;
    for (snd_pcm_uframes_t k = 0; k < size; k++) {
        uint64_t at = first + k;
        // The ring holds the newest frame that falls on this place.
        if (hw > at + io->buffer_size) {
            at += (hw - 1 - at) / io->buffer_size * io->buffer_size;
            card->state[STALE]++;
        }
        for (unsigned c = 0; c < io->channels; c++) {
            const snd_pcm_channel_area_t *area = &areas[c];
            store(card, (unsigned char *)area->addr + (area->first + (offset + k) * area->step) / 8,
                  sample(card, card->base + at, c));
        }
    }
    if (io->access == SND_PCM_ACCESS_RW_INTERLEAVED ||
        io->access == SND_PCM_ACCESS_RW_NONINTERLEAVED) {
        card->appl = first + size;
        arm(card, card->appl);
    }
    return (snd_pcm_sframes_t)(card->state[MISREAD] == 2 ? 2 * size : size);
}

static int card_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned int count,
                             unsigned short *revents) {
    struct card *card = io->private_data;
    (void)descriptors;
    (void)count;
    obey(card);
    *revents = 0;
    if (card->gone || card->suspended) {
        *revents = POLLIN | POLLERR | (card->gone ? POLLHUP : 0);
    } else if (!card->running) {
        *revents = POLLERR;
    } else if (!is_mute(card)) {
        uint64_t interrupted = ring_now(card) / stride(card) * stride(card);
        if (interrupted > card->seen) card->seen = interrupted;
        if (card->seen - io->appl_ptr >= card->avail_min) *revents = POLLIN;
    }
    if (*revents) card->state[INTERRUPTS]++;
    arm(card, io->appl_ptr);
    return 0;
}

static int card_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params) {
    struct card *card = io->private_data;
    (void)params;
    card->avail_min = io->period_size;
    card->stop_threshold = io->buffer_size;
    card->state[RATE] = io->rate;
    card->state[CHANNELS] = io->channels;
    card->state[PERIOD] = io->period_size;
    card->state[BUFFER] = io->buffer_size;
    card->state[FORMAT] = (uint64_t)io->format;
    return 0;
}

static int card_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params) {
    struct card *card = io->private_data;
    snd_pcm_sw_params_get_avail_min(params, &card->avail_min);
    snd_pcm_sw_params_get_stop_threshold(params, &card->stop_threshold);
    snd_pcm_sw_params_get_boundary(params, &card->boundary);
    card->state[AVAIL_MIN] = card->avail_min;
    return 0;
}

static int card_close(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    card->state[CLOSES]++;
    block(card->state, 4);
    if (card->content) munmap((void *)card->content, card->content_frames * 2);
    munmap((void *)card->state, WORDS * 8);
    close(card->timer_fd);
    close(card->state_fd);
    free(card);
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = card_start,
    .stop = card_stop,
    .pointer = card_pointer,
    .transfer = card_transfer,
    .close = card_close,
    .hw_params = card_hw_params,
    .sw_params = card_sw_params,
    .prepare = card_prepare,
    .resume = card_resume,
    .poll_revents = card_poll_revents,
};

static void read_range(char *rest, struct range *range, int formats) {
    range->count = 0;
    char *left;
    for (char *word = strtok_r(rest, " \n", &left); word && range->count < LIST;
         word = strtok_r(NULL, " \n", &left))
        range->values[range->count++] =
            formats ? (unsigned)snd_pcm_format_value(word) : (unsigned)strtoul(word, NULL, 10);
}

static int map_content(struct card *card, const char *path) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    if (fstat(fd, &info) == 0 && info.st_size >= 2) {
        void *bytes = mmap(NULL, (size_t)info.st_size & ~1ul, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            card->content = bytes;
            card->content_frames = (uint64_t)info.st_size / 2;
        }
    }
    close(fd);
    return card->content ? 0 : -EINVAL;
}

static int constrain(struct card *card, const char *folder) {
    struct range rates = {0}, channels = {0}, formats = {0}, periods = {0}, period_bytes = {0},
                 buffer_bytes = {0};
    char path[4096], line[4096];
    snprintf(path, sizeof path, "%s/card", folder);
    FILE *file = fopen(path, "re");
    if (!file) return -errno;
    int err = 0;
    while (fgets(line, sizeof line, file)) {
        char *rest = strchr(line, ' ');
        if (!rest) continue;
        *rest++ = 0;
        if (!strcmp(line, "rates")) read_range(rest, &rates, 0);
        if (!strcmp(line, "channels")) read_range(rest, &channels, 0);
        if (!strcmp(line, "formats")) read_range(rest, &formats, 1);
        if (!strcmp(line, "periods")) read_range(rest, &periods, 0);
        if (!strcmp(line, "period_bytes")) read_range(rest, &period_bytes, 0);
        if (!strcmp(line, "buffer_bytes")) read_range(rest, &buffer_bytes, 0);
        if (!strcmp(line, "always_stops")) card->always_stops = atoi(rest);
        if (!strcmp(line, "chunk")) card->chunk = strtoul(rest, NULL, 10);
        if (!strcmp(line, "loop")) card->loop = atoi(rest);
        if (!strcmp(line, "content")) {
            rest[strcspn(rest, "\n")] = 0;
            err = map_content(card, rest);
        }
    }
    fclose(file);
    if (err < 0) return err;

    static const unsigned accesses[] = {
        SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_RW_NONINTERLEAVED,
        SND_PCM_ACCESS_MMAP_INTERLEAVED, SND_PCM_ACCESS_MMAP_NONINTERLEAVED};
    snd_pcm_ioplug_t *io = &card->io;
    err = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 4, accesses);
    const struct { int type; const struct range *range; } lists[] = {
        {SND_PCM_IOPLUG_HW_FORMAT, &formats},
        {SND_PCM_IOPLUG_HW_CHANNELS, &channels},
        {SND_PCM_IOPLUG_HW_RATE, &rates}};
    for (int i = 0; i < 3 && err >= 0; i++)
        err = snd_pcm_ioplug_set_param_list(io, lists[i].type, lists[i].range->count,
                                            lists[i].range->values);
    const struct { int type; const struct range *range; } ranges[] = {
        {SND_PCM_IOPLUG_HW_PERIOD_BYTES, &period_bytes},
        {SND_PCM_IOPLUG_HW_BUFFER_BYTES, &buffer_bytes},
        {SND_PCM_IOPLUG_HW_PERIODS, &periods}};
    for (int i = 0; i < 3 && err >= 0; i++)
        err = snd_pcm_ioplug_set_param_minmax(io, ranges[i].type, ranges[i].range->values[0],
                                              ranges[i].range->values[1]);
    return err;
}

// A child that was forked and has not executed its program yet shares the lock, and is no user of
// the card: it has a moment to be gone.
static int take_lock(int fd) {
    for (int look = 0; look < 50; look++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
        poll(NULL, 0, 2);
    }
    return -1;
}

SND_PCM_PLUGIN_DEFINE_FUNC(uttermic) {
    const char *folder = NULL;
    snd_config_iterator_t i, next;
    (void)root;
    snd_config_for_each(i, next, conf) {
        snd_config_t *n = snd_config_iterator_entry(i);
        const char *id;
        if (snd_config_get_id(n, &id) >= 0 && !strcmp(id, "dir")) snd_config_get_string(n, &folder);
    }
    if (!folder || stream != SND_PCM_STREAM_CAPTURE) return -EINVAL;

    char path[4096];
    snprintf(path, sizeof path, "%s/state", folder);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return -errno;
    void *words = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct card *card = calloc(1, sizeof *card);
    int err = 0;
    if (words != MAP_FAILED) block(words, 2);
    if (words == MAP_FAILED || !card) err = -ENOMEM;
    else if (((volatile uint64_t *)words)[DENIED]) err = -EACCES;
    else if (((volatile uint64_t *)words)[UNPLUG]) err = -ENODEV;
    else if (((volatile uint64_t *)words)[BUSY] || take_lock(fd) != 0) err = -EBUSY;
    if (err < 0) goto fail;

    card->state = words;
    card->state_fd = fd;
    card->boundary = (snd_pcm_uframes_t)1 << 62;
    card->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (card->timer_fd < 0) { err = -errno; goto fail; }
    card->io.version = SND_PCM_IOPLUG_VERSION;
    card->io.name = "utter virtual microphone";
    card->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
    card->io.poll_fd = card->timer_fd;
    card->io.poll_events = POLLIN;
    card->io.callback = &callbacks;
    card->io.private_data = card;
    err = snd_pcm_ioplug_create(&card->io, name, stream, mode);
    if (err < 0) { close(card->timer_fd); goto fail; }
    err = constrain(card, folder);
    if (err < 0) {
        // Closes the card too.
        snd_pcm_ioplug_delete(&card->io);
        return err;
    }
    card->state[OPENS]++;
    *pcmp = card->io.pcm;
    return 0;

fail:
    if (words != MAP_FAILED) munmap(words, WORDS * 8);
    free(card);
    close(fd);
    return err;
}

SND_PCM_PLUGIN_SYMBOL(uttermic);
