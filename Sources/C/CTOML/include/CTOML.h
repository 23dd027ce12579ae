// SPDX-License-Identifier: Apache-2.0

#ifndef UTTER_CTOML_H
#define UTTER_CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A place in a document; lines and columns count from 1.
typedef struct {
    uint32_t line, column;
} utter_toml_place;

/// What is told of a document, in the order of the parser, which is that of the names.
///
/// Each value comes with its key (NULL in an array) and both places. A table and an array are begun,
/// then their members come, then they are ended.
typedef struct {
    void (*begin)(void *context, const char *key, size_t key_length, utter_toml_place key_place,
                  utter_toml_place place, bool is_array);
    void (*end)(void *context);
    void (*string)(void *context, const char *key, size_t key_length, utter_toml_place key_place,
                   utter_toml_place place, const char *text, size_t length);
    void (*integer)(void *context, const char *key, size_t key_length, utter_toml_place key_place,
                    utter_toml_place place, int64_t number);
    void (*floating)(void *context, const char *key, size_t key_length, utter_toml_place key_place,
                     utter_toml_place place, double number);
    void (*boolean)(void *context, const char *key, size_t key_length, utter_toml_place key_place,
                    utter_toml_place place, bool flag);
    /// A date or a time.
    void (*other)(void *context, const char *key, size_t key_length, utter_toml_place key_place,
                  utter_toml_place place);
    /// The document is none; nothing else is told.
    void (*fault)(void *context, utter_toml_place place, const char *text, size_t length);
} utter_toml_reader;

/// Reads a document of TOML 1.0 and tells what is in it; false when it is none.
bool utter_toml_read(const char *text, size_t length, const utter_toml_reader *reader,
                     void *context);

#ifdef __cplusplus
}
#endif

#endif
