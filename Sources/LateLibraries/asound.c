// SPDX-License-Identifier: Apache-2.0
#define LATE_LIBRARY "libasound.so.2"
#include "late.h"
#include <alsa/asoundlib.h>

#pragma GCC visibility push(hidden)
LATE(int, snd_card_get_index, (const char *a), (a))
LATE(int, snd_card_get_name, (int a, char **b), (a, b))
LATE(int, snd_device_name_free_hint, (void **a), (a))
LATE(char *, snd_device_name_get_hint, (const void *a, const char *b), (a, b))
LATE(int, snd_device_name_hint, (int a, const char *b, void ***c), (a, b, c))
LATE(snd_local_error_handler_t, snd_lib_error_set_local, (snd_local_error_handler_t a), (a))
LATE(snd_pcm_sframes_t, snd_pcm_avail_update, (snd_pcm_t *a), (a))
LATE(int, snd_pcm_close, (snd_pcm_t *a), (a))
LATE(int, snd_pcm_delay, (snd_pcm_t *a, snd_pcm_sframes_t *b), (a, b))
LATE(int, snd_pcm_drain, (snd_pcm_t *a), (a))
LATE(int, snd_pcm_drop, (snd_pcm_t *a), (a))
LATE(const char *, snd_pcm_format_name, (const snd_pcm_format_t a), (a))
LATE(int, snd_pcm_hw_params, (snd_pcm_t *a, snd_pcm_hw_params_t *b), (a, b))
LATE(int, snd_pcm_hw_params_any, (snd_pcm_t *a, snd_pcm_hw_params_t *b), (a, b))
LATE(void, snd_pcm_hw_params_free, (snd_pcm_hw_params_t *a), (a))
LATE(int, snd_pcm_hw_params_get_buffer_size, (const snd_pcm_hw_params_t *a, snd_pcm_uframes_t *b),
     (a, b))
LATE(int, snd_pcm_hw_params_get_buffer_size_max,
     (const snd_pcm_hw_params_t *a, snd_pcm_uframes_t *b), (a, b))
LATE(int, snd_pcm_hw_params_get_period_size,
     (const snd_pcm_hw_params_t *a, snd_pcm_uframes_t *b, int *c), (a, b, c))
LATE(int, snd_pcm_hw_params_malloc, (snd_pcm_hw_params_t **a), (a))
LATE(int, snd_pcm_hw_params_set_access, (snd_pcm_t *a, snd_pcm_hw_params_t *b, snd_pcm_access_t c),
     (a, b, c))
LATE(int, snd_pcm_hw_params_set_buffer_size_near,
     (snd_pcm_t *a, snd_pcm_hw_params_t *b, snd_pcm_uframes_t *c), (a, b, c))
LATE(int, snd_pcm_hw_params_set_channels_near,
     (snd_pcm_t *a, snd_pcm_hw_params_t *b, unsigned int *c), (a, b, c))
LATE(int, snd_pcm_hw_params_set_format, (snd_pcm_t *a, snd_pcm_hw_params_t *b, snd_pcm_format_t c),
     (a, b, c))
LATE(int, snd_pcm_hw_params_set_period_size_near,
     (snd_pcm_t *a, snd_pcm_hw_params_t *b, snd_pcm_uframes_t *c, int *d), (a, b, c, d))
LATE(int, snd_pcm_hw_params_set_rate_near,
     (snd_pcm_t *a, snd_pcm_hw_params_t *b, unsigned int *c, int *d), (a, b, c, d))
LATE(int, snd_pcm_hw_params_set_rate_resample,
     (snd_pcm_t *a, snd_pcm_hw_params_t *b, unsigned int c), (a, b, c))
LATE(int, snd_pcm_hw_params_test_format, (snd_pcm_t *a, snd_pcm_hw_params_t *b, snd_pcm_format_t c),
     (a, b, c))
LATE(int, snd_pcm_hw_params_test_rate,
     (snd_pcm_t *a, snd_pcm_hw_params_t *b, unsigned int c, int d), (a, b, c, d))
LATE(int, snd_pcm_info, (snd_pcm_t *a, snd_pcm_info_t *b), (a, b))
LATE(void, snd_pcm_info_free, (snd_pcm_info_t *a), (a))
LATE(int, snd_pcm_info_get_card, (const snd_pcm_info_t *a), (a))
LATE(int, snd_pcm_info_malloc, (snd_pcm_info_t **a), (a))
LATE(int, snd_pcm_open, (snd_pcm_t **a, const char *b, snd_pcm_stream_t c, int d), (a, b, c, d))
LATE(int, snd_pcm_poll_descriptors, (snd_pcm_t *a, struct pollfd *b, unsigned int c), (a, b, c))
LATE(int, snd_pcm_poll_descriptors_count, (snd_pcm_t *a), (a))
LATE(int, snd_pcm_poll_descriptors_revents,
     (snd_pcm_t *a, struct pollfd *b, unsigned int c, short unsigned int *d), (a, b, c, d))
LATE(int, snd_pcm_prepare, (snd_pcm_t *a), (a))
LATE(snd_pcm_sframes_t, snd_pcm_readi, (snd_pcm_t *a, void *b, snd_pcm_uframes_t c), (a, b, c))
LATE(int, snd_pcm_resume, (snd_pcm_t *a), (a))
LATE(int, snd_pcm_start, (snd_pcm_t *a), (a))
LATE(snd_pcm_state_t, snd_pcm_state, (snd_pcm_t *a), (a))
LATE(int, snd_pcm_status, (snd_pcm_t *a, snd_pcm_status_t *b), (a, b))
LATE(void, snd_pcm_status_free, (snd_pcm_status_t *a), (a))
LATE(void, snd_pcm_status_get_trigger_htstamp, (const snd_pcm_status_t *a, snd_htimestamp_t *b),
     (a, b))
LATE(int, snd_pcm_status_malloc, (snd_pcm_status_t **a), (a))
LATE(int, snd_pcm_sw_params, (snd_pcm_t *a, snd_pcm_sw_params_t *b), (a, b))
LATE(int, snd_pcm_sw_params_current, (snd_pcm_t *a, snd_pcm_sw_params_t *b), (a, b))
LATE(void, snd_pcm_sw_params_free, (snd_pcm_sw_params_t *a), (a))
LATE(int, snd_pcm_sw_params_get_boundary, (const snd_pcm_sw_params_t *a, snd_pcm_uframes_t *b),
     (a, b))
LATE(int, snd_pcm_sw_params_malloc, (snd_pcm_sw_params_t **a), (a))
LATE(int, snd_pcm_sw_params_set_avail_min,
     (snd_pcm_t *a, snd_pcm_sw_params_t *b, snd_pcm_uframes_t c), (a, b, c))
LATE(int, snd_pcm_sw_params_set_start_threshold,
     (snd_pcm_t *a, snd_pcm_sw_params_t *b, snd_pcm_uframes_t c), (a, b, c))
LATE(int, snd_pcm_sw_params_set_stop_threshold,
     (snd_pcm_t *a, snd_pcm_sw_params_t *b, snd_pcm_uframes_t c), (a, b, c))
LATE(int, snd_pcm_sw_params_set_tstamp_mode,
     (snd_pcm_t *a, snd_pcm_sw_params_t *b, snd_pcm_tstamp_t c), (a, b, c))
LATE(int, snd_pcm_sw_params_set_tstamp_type,
     (snd_pcm_t *a, snd_pcm_sw_params_t *b, snd_pcm_tstamp_type_t c), (a, b, c))
LATE(const char *, snd_strerror, (int a), (a))
LATE(snd_pcm_sframes_t, snd_pcm_writei, (snd_pcm_t *a, const void *b, snd_pcm_uframes_t c),
     (a, b, c))
#pragma GCC visibility pop
