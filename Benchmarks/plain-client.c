// SPDX-License-Identifier: Apache-2.0
//
// The least that sends speech while it is spoken, to compare with: no journal, no thread, no retry.
//
//     plain-client record DEVICE SECONDS URL pcm|opus    one microphone, 16 kHz, periods of 20 ms
//     plain-client replay COUNT SECONDS URL              as many bodies at once, 640 bytes each 20 ms
//
// `record` waits for the card in libcurl's read callback, and sends what one period brings. Opus is
// encoded as utter does it, and its packets are sent bare. `replay` drives all bodies from one thread,
// on one grid of 20 ms. It ends with 0 when each body was answered by 200.

#include <alsa/asoundlib.h>
#include <curl/curl.h>
#include <opus/opus.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { PERIOD = 320, PERIOD_BYTES = 2 * PERIOD, RATE = 16000 };

static void fail(const char *what) {
    fprintf(stderr, "plain-client: %s\n", what);
    exit(1);
}

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

static CURL *make_request(const char *url, curl_read_callback read, void *context) {
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Transfer-Encoding: chunked");
    headers = curl_slist_append(headers, "Content-Type: audio/pcm");
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
    curl_easy_setopt(easy, CURLOPT_READDATA, context);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    return easy;
}

// One microphone

struct recording {
    snd_pcm_t *card;
    OpusEncoder *opus;
    long frames_left;
    int16_t frames[PERIOD];
    unsigned char packet[1500];
    const char *bytes;
    size_t byte_count;
};

static void fill(struct recording *take) {
    snd_pcm_sframes_t count = snd_pcm_readi(take->card, take->frames, PERIOD);
    if (count < 0 && snd_pcm_recover(take->card, (int)count, 1) < 0) fail("cannot read the card");
    if (count <= 0) return;
    take->frames_left -= count;
    take->bytes = (const char *)take->frames;
    take->byte_count = 2 * (size_t)count;
    if (take->opus == NULL) return;
    int length = opus_encode(take->opus, take->frames, PERIOD, take->packet, sizeof take->packet);
    if (length < 0) fail("cannot encode");
    take->bytes = (const char *)take->packet;
    take->byte_count = (size_t)length;
}

static size_t read_card(char *to, size_t size, size_t count, void *context) {
    struct recording *take = context;
    while (take->byte_count == 0 && take->frames_left > 0) fill(take);
    size_t length = take->byte_count < size * count ? take->byte_count : size * count;
    memcpy(to, take->bytes, length);
    take->bytes += length;
    take->byte_count -= length;
    return length;
}

static int record(const char *device, long seconds, const char *url, int is_opus) {
    static struct recording take = {.bytes = ""};
    take.frames_left = seconds * RATE;
    snd_pcm_hw_params_t *hardware;
    snd_pcm_uframes_t period = PERIOD, buffer = RATE / 2;
    unsigned rate = RATE;
    if (snd_pcm_open(&take.card, device, SND_PCM_STREAM_CAPTURE, 0) < 0) fail("no such card");
    snd_pcm_hw_params_malloc(&hardware);
    snd_pcm_hw_params_any(take.card, hardware);
    snd_pcm_hw_params_set_access(take.card, hardware, SND_PCM_ACCESS_RW_INTERLEAVED);
    snd_pcm_hw_params_set_format(take.card, hardware, SND_PCM_FORMAT_S16_LE);
    snd_pcm_hw_params_set_channels(take.card, hardware, 1);
    snd_pcm_hw_params_set_rate_near(take.card, hardware, &rate, NULL);
    snd_pcm_hw_params_set_period_size_near(take.card, hardware, &period, NULL);
    snd_pcm_hw_params_set_buffer_size_near(take.card, hardware, &buffer);
    if (snd_pcm_hw_params(take.card, hardware) < 0 || rate != RATE) fail("the card refuses 16 kHz");
    if (is_opus) {
        take.opus = opus_encoder_create(RATE, 1, OPUS_APPLICATION_VOIP, NULL);
        opus_encoder_ctl(take.opus, OPUS_SET_BITRATE(32000));
        opus_encoder_ctl(take.opus, OPUS_SET_COMPLEXITY(5));
        opus_encoder_ctl(take.opus, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
        opus_encoder_ctl(take.opus, OPUS_SET_LSB_DEPTH(16));
    }
    snd_pcm_start(take.card);
    return curl_easy_perform(make_request(url, read_card, &take)) == CURLE_OK ? 0 : 1;
}

// Many bodies

struct replay {
    CURL *easy;
    long bytes_left;
    // What the clock allows to be sent by now.
    long due;
    int is_paused;
};

static size_t read_due(char *to, size_t size, size_t count, void *context) {
    static unsigned char noise;
    struct replay *body = context;
    if (body->bytes_left == 0) return 0;
    if (body->due == 0) {
        body->is_paused = 1;
        return CURL_READFUNC_PAUSE;
    }
    size_t length = (size_t)body->due < size * count ? (size_t)body->due : size * count;
    memset(to, noise++, length);
    body->due -= (long)length;
    body->bytes_left -= (long)length;
    return length;
}

static int replay(long count, long seconds, const char *url) {
    CURLM *multi = curl_multi_init();
    struct replay *bodies = calloc((size_t)count, sizeof *bodies);
    for (long index = 0; index < count; index++) {
        bodies[index].bytes_left = seconds * RATE * 2;
        bodies[index].easy = make_request(url, read_due, &bodies[index]);
        curl_multi_add_handle(multi, bodies[index].easy);
    }
    int clock = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec grid = {{0, 20000000}, {0, 20000000}};
    timerfd_settime(clock, 0, &grid, NULL);
    int running = (int)count, left = 0, answered = 0;
    while (running > 0) {
        struct curl_waitfd wait = {clock, CURL_WAIT_POLLIN, 0};
        curl_multi_poll(multi, &wait, 1, 1000, NULL);
        uint64_t periods = 0;
        if (wait.revents && read(clock, &periods, sizeof periods) > 0) {
            for (long index = 0; index < count; index++) {
                long due = bodies[index].due + (long)periods * PERIOD_BYTES;
                bodies[index].due = due < bodies[index].bytes_left ? due : bodies[index].bytes_left;
                if (bodies[index].is_paused) {
                    bodies[index].is_paused = 0;
                    curl_easy_pause(bodies[index].easy, CURLPAUSE_CONT);
                }
            }
        }
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left)) != NULL)
            if (message->msg == CURLMSG_DONE && message->data.result == CURLE_OK) answered++;
    }
    return answered == count ? 0 : 1;
}

int main(int count, char **words) {
    curl_global_init(CURL_GLOBAL_ALL);
    if (count == 6 && strcmp(words[1], "record") == 0)
        return record(words[2], atol(words[3]), words[4], strcmp(words[5], "opus") == 0);
    if (count == 5 && strcmp(words[1], "replay") == 0)
        return replay(atol(words[2]), atol(words[3]), words[4]);
    fail("record DEVICE SECONDS URL pcm|opus, or replay COUNT SECONDS URL");
}
