// How far samples can be trusted, as JSON: of `report --json` and of the page.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/quality.h"

namespace tarsier::exporting {

nlohmann::ordered_json json_of_quality(const analysis::Quality& quality);

// JSON objects have unique keys: names that differ only in bytes that are not UTF-8 would clash, and are added up.
template <class Map>
nlohmann::ordered_json object_of(const Map& map) {
  using Object = nlohmann::ordered_json;
  Object object = Object::object();
  for (const auto& [key, value] : map) {
    const std::string text = Object(key).dump(-1, ' ', false, Object::error_handler_t::replace);
    const std::string name = Object::parse(text).template get<std::string>();
    object[name] = object.contains(name) ? object[name].template get<typename Map::mapped_type>() + value : value;
  }
  return object;
}

}  // namespace tarsier::exporting
