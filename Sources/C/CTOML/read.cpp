// SPDX-License-Identifier: Apache-2.0

#include "include/CTOML.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace {

utter_toml_place place_of(const toml::source_region &region) {
    return {region.begin.line, region.begin.column};
}

/// Tells of one document, from the outside in.
struct Teller {
    const utter_toml_reader *reader;
    void *context;

    void tell(const toml::key *key, const toml::node &node) const {
        const char *name = key ? key->str().data() : nullptr;
        const size_t length = key ? key->str().size() : 0;
        const utter_toml_place key_place = key ? place_of(key->source()) : place_of(node.source());
        const utter_toml_place place = place_of(node.source());
        if (const auto *table = node.as_table()) {
            reader->begin(context, name, length, key_place, place, false);
            tell_members(*table);
            reader->end(context);
        } else if (const auto *array = node.as_array()) {
            reader->begin(context, name, length, key_place, place, true);
            for (const auto &element : *array) tell(nullptr, element);
            reader->end(context);
        } else if (const auto *string = node.as_string()) {
            const std::string &text = string->get();
            reader->string(context, name, length, key_place, place, text.data(), text.size());
        } else if (const auto *integer = node.as_integer()) {
            reader->integer(context, name, length, key_place, place, integer->get());
        } else if (const auto *number = node.as_floating_point()) {
            reader->floating(context, name, length, key_place, place, number->get());
        } else if (const auto *flag = node.as_boolean()) {
            reader->boolean(context, name, length, key_place, place, flag->get());
        } else {
            reader->other(context, name, length, key_place, place);
        }
    }

    void tell_members(const toml::table &table) const {
        for (auto &&[key, node] : table) tell(&key, node);
    }
};

}  // namespace

bool utter_toml_read(const char *text, size_t length, const utter_toml_reader *reader,
                     void *context) {
    const toml::parse_result result = toml::parse(std::string_view(text, length));
    if (!result) {
        const toml::parse_error &error = result.error();
        const std::string_view reason = error.description();
        reader->fault(context, place_of(error.source()), reason.data(), reason.size());
        return false;
    }
    Teller{reader, context}.tell_members(result.table());
    return true;
}
