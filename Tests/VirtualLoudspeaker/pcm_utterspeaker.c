// SPDX-License-Identifier: Apache-2.0
//
// A loudspeaker that exists only in user space: an ALSA external I/O plug-in (pcm_ioplug.h) that
// plays at the speed of CLOCK_MONOTONIC, and writes every frame that it is given to a file.
//
// A loudspeaker is a folder (the argument DIR):
//   heard    what it was given, raw signed 16-bit mono, appended
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct card {
    snd_pcm_ioplug_t io;
    int heard;
    int timer;
    int running;
    uint64_t began;   // ns
    uint64_t base;    // frames played before `began`
};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int card_start(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    struct itimerspec tick = {{0, 10000000}, {0, 10000000}};
    card->began = now_ns();
    card->running = 1;
    timerfd_settime(card->timer, 0, &tick, NULL);
    return 0;
}

static int card_stop(snd_pcm_ioplug_t *io) {
    ((struct card *)io->private_data)->running = 0;
    return 0;
}

static int card_prepare(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    card->base = 0;
    card->running = 0;
    return 0;
}

static snd_pcm_sframes_t card_pointer(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    uint64_t played = card->base;
    if (card->running) played += (now_ns() - card->began) * io->rate / 1000000000ull;
    if (played >= io->appl_ptr) {
        // While it drains, running out is the end.
        if (io->state == SND_PCM_STATE_DRAINING) return (snd_pcm_sframes_t)io->appl_ptr;
        if (card->running) return -EPIPE;
        played = io->appl_ptr;
    }
    return (snd_pcm_sframes_t)played;
}

static snd_pcm_sframes_t card_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
                                       snd_pcm_uframes_t offset, snd_pcm_uframes_t size) {
    struct card *card = io->private_data;
    const char *at = (const char *)areas->addr + (areas->first + offset * areas->step) / 8;
    ssize_t count = write(card->heard, at, size * 2);
    return count < 0 ? -errno : count / 2;
}

static int card_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned int count,
                             unsigned short *revents) {
    struct card *card = io->private_data;
    uint64_t ticks;
    (void)descriptors;
    (void)count;
    if (read(card->timer, &ticks, sizeof ticks) < 0) ticks = 0;
    *revents = POLLOUT;
    return 0;
}

static int card_close(snd_pcm_ioplug_t *io) {
    struct card *card = io->private_data;
    close(card->timer);
    close(card->heard);
    free(card);
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = card_start,
    .stop = card_stop,
    .pointer = card_pointer,
    .transfer = card_transfer,
    .close = card_close,
    .prepare = card_prepare,
    .poll_revents = card_poll_revents,
};

SND_PCM_PLUGIN_DEFINE_FUNC(utterspeaker) {
    const char *folder = NULL;
    snd_config_iterator_t i, next;
    (void)root;
    snd_config_for_each(i, next, conf) {
        snd_config_t *n = snd_config_iterator_entry(i);
        const char *id;
        if (snd_config_get_id(n, &id) >= 0 && !strcmp(id, "dir")) snd_config_get_string(n, &folder);
    }
    if (!folder || stream != SND_PCM_STREAM_PLAYBACK) return -EINVAL;

    struct card *card = calloc(1, sizeof *card);
    if (!card) return -ENOMEM;
    char path[4096];
    snprintf(path, sizeof path, "%s/heard", folder);
    int err = 0;
    card->heard = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    card->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (err == 0 && (card->heard < 0 || card->timer < 0)) err = -errno;
    if (err < 0) goto fail;

    card->io.version = SND_PCM_IOPLUG_VERSION;
    card->io.name = "utter virtual loudspeaker";
    card->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
    card->io.poll_fd = card->timer;
    card->io.poll_events = POLLIN;
    card->io.callback = &callbacks;
    card->io.private_data = card;
    err = snd_pcm_ioplug_create(&card->io, name, stream, mode);
    if (err < 0) goto fail;
    const unsigned access_list[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED};
    const unsigned format = SND_PCM_FORMAT_S16_LE, channels = 1, rate = 16000;
    if ((err = snd_pcm_ioplug_set_param_list(&card->io, SND_PCM_IOPLUG_HW_ACCESS, 2, access_list)) < 0 ||
        (err = snd_pcm_ioplug_set_param_list(&card->io, SND_PCM_IOPLUG_HW_FORMAT, 1, &format)) < 0 ||
        (err = snd_pcm_ioplug_set_param_list(&card->io, SND_PCM_IOPLUG_HW_CHANNELS, 1, &channels)) < 0 ||
        (err = snd_pcm_ioplug_set_param_list(&card->io, SND_PCM_IOPLUG_HW_RATE, 1, &rate)) < 0 ||
        (err = snd_pcm_ioplug_set_param_minmax(&card->io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 64, 65536)) < 0 ||
        (err = snd_pcm_ioplug_set_param_minmax(&card->io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 256, 262144)) < 0) {
        // Closes the card too.
        snd_pcm_ioplug_delete(&card->io);
        return err;
    }
    *pcmp = card->io.pcm;
    return 0;

fail:
    if (card->heard >= 0) close(card->heard);
    if (card->timer >= 0) close(card->timer);
    free(card);
    return err;
}

SND_PCM_PLUGIN_SYMBOL(utterspeaker);
