#include "recording/metadata.h"

#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "recording/encoder.h"
#include "recording/events.h"
#include "recording/type_ids.h"

namespace tarsier::recording {
namespace {

enum class Store : uint8_t { kInline, kConstant, kArray };

struct FieldSpec {
  std::string_view name;
  TypeId type;
  std::string_view label;
  Store store = Store::kInline;
};
struct TypeSpec {
  TypeId id;
  std::string_view name;
  std::string_view label;
  std::span<const FieldSpec> fields;
};

// Names and order as JFR has them (21: "virtual"); the writer of constants (constant_tables.cpp) follows this order.
constexpr FieldSpec kThreadFields[] = {
    {"osName", TypeId::kString, "OS Thread Name"},
    {"osThreadId", TypeId::kLong, "OS Thread Id"},
    {"javaName", TypeId::kString, "Java Thread Name"},
    {"javaThreadId", TypeId::kLong, "Java Thread Id"},
    {"group", TypeId::kThreadGroup, "Java Thread Group", Store::kConstant},
    {"virtual", TypeId::kBoolean, "Virtual Thread"},
};
constexpr FieldSpec kThreadGroupFields[] = {
    {"parent", TypeId::kThreadGroup, "Parent", Store::kConstant},
    {"name", TypeId::kString, "Name"},
};
constexpr FieldSpec kClassFields[] = {
    {"classLoader", TypeId::kClassLoader, "Class Loader", Store::kConstant},
    {"name", TypeId::kSymbol, "Name", Store::kConstant},
    {"package", TypeId::kPackage, "Package", Store::kConstant},
    {"modifiers", TypeId::kInt, "Access Modifiers"},
    {"hidden", TypeId::kBoolean, "Hidden"},
};
constexpr FieldSpec kClassLoaderFields[] = {
    {"type", TypeId::kClass, "Type", Store::kConstant},
    {"name", TypeId::kSymbol, "Name", Store::kConstant},
};
constexpr FieldSpec kPackageFields[] = {
    {"name", TypeId::kSymbol, "Name", Store::kConstant},
    {"module", TypeId::kModule, "Module", Store::kConstant},
    {"exported", TypeId::kBoolean, "Exported"},
};
constexpr FieldSpec kModuleFields[] = {
    {"name", TypeId::kSymbol, "Name", Store::kConstant},
    {"version", TypeId::kSymbol, "Version", Store::kConstant},
    {"location", TypeId::kSymbol, "Location", Store::kConstant},
    {"classLoader", TypeId::kClassLoader, "Class Loader", Store::kConstant},
};
constexpr FieldSpec kMethodFields[] = {
    {"type", TypeId::kClass, "Type", Store::kConstant},
    {"name", TypeId::kSymbol, "Name", Store::kConstant},
    {"descriptor", TypeId::kSymbol, "Descriptor", Store::kConstant},
    {"modifiers", TypeId::kInt, "Access Modifiers"},
    {"hidden", TypeId::kBoolean, "Hidden"},
};
constexpr FieldSpec kSymbolFields[] = {{"string", TypeId::kString, "String"}};
constexpr FieldSpec kStackTraceFields[] = {
    {"truncated", TypeId::kBoolean, "Truncated"},
    {"frames", TypeId::kStackFrame, "Stack Frames", Store::kArray},
};
constexpr FieldSpec kStackFrameFields[] = {
    {"method", TypeId::kMethod, "Java Method", Store::kConstant},
    {"lineNumber", TypeId::kInt, "Line Number"},
    {"bytecodeIndex", TypeId::kInt, "Bytecode Index"},
    {"type", TypeId::kFrameType, "Frame Type", Store::kConstant},
};
constexpr FieldSpec kFrameTypeFields[] = {{"description", TypeId::kString, "Description"}};
constexpr FieldSpec kThreadStateFields[] = {{"name", TypeId::kString, "Name"}};

constexpr TypeSpec kPlainTypes[] = {
    {TypeId::kBoolean, "boolean", {}, {}},
    {TypeId::kInt, "int", {}, {}},
    {TypeId::kLong, "long", {}, {}},
    {TypeId::kString, "java.lang.String", {}, {}},
    {TypeId::kByte, "byte", {}, {}},
    {TypeId::kFloat, "float", {}, {}},
    {TypeId::kThread, "java.lang.Thread", "Thread", kThreadFields},
    {TypeId::kClass, "java.lang.Class", "Java Class", kClassFields},
    {TypeId::kThreadGroup, "jdk.types.ThreadGroup", "Thread Group", kThreadGroupFields},
    {TypeId::kClassLoader, "jdk.types.ClassLoader", "Java Class Loader", kClassLoaderFields},
    {TypeId::kPackage, "jdk.types.Package", "Package", kPackageFields},
    {TypeId::kModule, "jdk.types.Module", "Module", kModuleFields},
    {TypeId::kMethod, "jdk.types.Method", "Java Method", kMethodFields},
    {TypeId::kSymbol, "jdk.types.Symbol", "Symbol", kSymbolFields},
    {TypeId::kStackTrace, "jdk.types.StackTrace", "Stacktrace", kStackTraceFields},
    {TypeId::kStackFrame, "jdk.types.StackFrame", {}, kStackFrameFields},
    {TypeId::kFrameType, "jdk.types.FrameType", "Frame type", kFrameTypeFields},
    {TypeId::kThreadState, "jdk.types.ThreadState", "Java Thread State", kThreadStateFields},
};

struct AnnotationSpec {
  TypeId id;
  std::string_view name;
  bool is_content_type;
  Store value;  // kConstant: it has none
};
constexpr AnnotationSpec kAnnotations[] = {
    {TypeId::kLabel, "jdk.jfr.Label", false, Store::kInline},
    {TypeId::kDescription, "jdk.jfr.Description", false, Store::kInline},
    {TypeId::kCategory, "jdk.jfr.Category", false, Store::kArray},
    {TypeId::kContentType, "jdk.jfr.ContentType", false, Store::kConstant},
    {TypeId::kTimestamp, "jdk.jfr.Timestamp", true, Store::kInline},
    {TypeId::kTimespan, "jdk.jfr.Timespan", true, Store::kInline},
    {TypeId::kDataAmount, "jdk.jfr.DataAmount", true, Store::kInline},
    {TypeId::kPercentage, "jdk.jfr.Percentage", true, Store::kConstant},
};

// How each Kind of the table is stored, indexed by Kind.
struct KindSpec {
  Kind kind;
  TypeId type;
  Store store;
  TypeId content = TypeId::kLabel;  // kLabel: none
  std::string_view unit = {};
};
constexpr KindSpec kKinds[] = {
    {Kind::kBool, TypeId::kBoolean, Store::kInline},
    {Kind::kInt, TypeId::kInt, Store::kInline},
    {Kind::kLong, TypeId::kLong, Store::kInline},
    {Kind::kString, TypeId::kString, Store::kInline},
    {Kind::kNanos, TypeId::kLong, Store::kInline, TypeId::kTimespan, "NANOSECONDS"},
    {Kind::kBytes, TypeId::kLong, Store::kInline, TypeId::kDataAmount, "BYTES"},
    {Kind::kEpochMillis, TypeId::kLong, Store::kInline, TypeId::kTimestamp, "MILLISECONDS_SINCE_EPOCH"},
    {Kind::kShare, TypeId::kFloat, Store::kInline, TypeId::kPercentage},
    {Kind::kBinary, TypeId::kByte, Store::kArray},
    {Kind::kThread, TypeId::kThread, Store::kConstant},
    {Kind::kStack, TypeId::kStackTrace, Store::kConstant},
    {Kind::kThreadState, TypeId::kThreadState, Store::kConstant},
    {Kind::kClass, TypeId::kClass, Store::kConstant},
};
constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i].kind != static_cast<Kind>(i)) return false;
  }
  return std::size(kKinds) == static_cast<size_t>(Kind::kClass) + 1;
}
static_assert(in_order());

struct Element {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<Element> children;

  Element& add(std::string_view child) { return children.emplace_back(Element{std::string(child), {}, {}}); }
  Element& set(std::string_view key, std::string_view value) {
    attributes.emplace_back(key, value);
    return *this;
  }
  Element& set(std::string_view key, TypeId type) { return set(key, std::to_string(id_of(type))); }
};

void annotate(Element& target, TypeId annotation, std::string_view value) {
  if (!value.empty()) target.add("annotation").set("class", annotation).set("value", value);
}

Element& add_field(Element& type, std::string_view name, TypeId id, Store store) {
  Element& field = type.add("field").set("name", name).set("class", id);
  if (store == Store::kArray) field.set("dimension", "1");
  if (store == Store::kConstant) field.set("constantPool", "true");
  return field;
}

Element& add_class(Element& metadata, std::string_view name, std::string_view super, const std::string& id) {
  Element& type = metadata.add("class").set("name", name);
  if (!super.empty()) type.set("superType", super);
  return type.set("id", id);
}

void add_plain_type(Element& metadata, const TypeSpec& spec) {
  Element& type = add_class(metadata, spec.name, {}, std::to_string(id_of(spec.id)));
  // JFR prints the one field of a constant in place of the constant.
  if (spec.fields.size() == 1) type.set("simpleType", "true");
  for (const FieldSpec& field : spec.fields) {
    annotate(add_field(type, field.name, field.type, field.store), TypeId::kLabel, field.label);
  }
  annotate(type, TypeId::kLabel, spec.label);
}

void add_annotation_type(Element& metadata, const AnnotationSpec& spec) {
  Element& type = add_class(metadata, spec.name, "java.lang.annotation.Annotation", std::to_string(id_of(spec.id)));
  if (spec.value != Store::kConstant) add_field(type, "value", TypeId::kString, spec.value);
  if (spec.is_content_type) type.add("annotation").set("class", TypeId::kContentType);
}

void add_category(Element& type, std::string_view category) {
  Element& annotation = type.add("annotation").set("class", TypeId::kCategory);
  for (size_t i = 0;; ++i) {
    const size_t slash = category.find('/');
    annotation.set("value-" + std::to_string(i), category.substr(0, slash));
    if (slash == std::string_view::npos) break;
    category.remove_prefix(slash + 1);
  }
}

void add_event_type(Element& metadata, const EventType& event) {
  Element& type = add_class(metadata, event.name, "jdk.jfr.Event", std::to_string(id_of(event.event)));
  Element& start = add_field(type, "startTime", TypeId::kLong, Store::kInline);
  annotate(start, TypeId::kLabel, "Start Time");
  annotate(start, TypeId::kTimestamp, "TICKS");
  for (const Field& spec : event.fields) {
    const KindSpec& kind = kKinds[static_cast<size_t>(spec.kind)];
    Element& field = add_field(type, spec.name, kind.type, kind.store);
    annotate(field, TypeId::kLabel, spec.label);
    annotate(field, TypeId::kDescription, spec.description);
    annotate(field, kind.content, kind.unit);
    if (kind.content == TypeId::kPercentage) field.add("annotation").set("class", kind.content);  // needs no unit
  }
  annotate(type, TypeId::kLabel, event.label);
  annotate(type, TypeId::kDescription, event.description);
  add_category(type, event.category);
}

Element make_tree() {
  Element root{"root", {}, {}};
  Element& metadata = root.add("metadata");
  for (const TypeSpec& spec : kPlainTypes) add_plain_type(metadata, spec);
  for (const AnnotationSpec& spec : kAnnotations) add_annotation_type(metadata, spec);
  for (const EventType& event : event_types()) add_event_type(metadata, event);
  const time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  root.add("region").set("locale", "en_US").set("gmtOffset", std::to_string(local.tm_gmtoff * 1000));
  return root;
}

class StringPool {
 public:
  uint32_t index(const std::string& text) {
    const auto [it, is_new] = index_.try_emplace(text, static_cast<uint32_t>(strings_.size()));
    if (is_new) strings_.push_back(&it->first);
    return it->second;
  }
  void encode(Encoder& out) const {
    out.varint(strings_.size());
    for (const std::string* text : strings_) out.string(*text);
  }

 private:
  std::map<std::string, uint32_t> index_;
  std::vector<const std::string*> strings_;
};

void encode_element(const Element& element, StringPool& pool, Encoder& out) {
  out.varint(pool.index(element.name));
  out.varint(element.attributes.size());
  for (const auto& [key, value] : element.attributes) {
    out.varint(pool.index(key));
    out.varint(pool.index(value));
  }
  out.varint(element.children.size());
  for (const Element& child : element.children) encode_element(child, pool, out);
}

}  // namespace

std::vector<uint8_t> encode_metadata() {
  StringPool pool;
  Encoder tree;
  encode_element(make_tree(), pool, tree);
  Encoder out;
  pool.encode(out);
  out.raw(tree.bytes());
  return {out.bytes().begin(), out.bytes().end()};
}

}  // namespace tarsier::recording
