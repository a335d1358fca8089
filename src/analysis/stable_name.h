// Names of methods that are the same in every run. Classes that are generated while a program runs get numbers,
// addresses or hashes into their names, other ones each time; two recordings could never be compared by those.
#pragma once

#include <string>
#include <string_view>

namespace tarsier::analysis {

// `name` is package.Class.method. Numbers of lambdas, hidden classes, proxies and reflective accessors are left out:
// app.Main$$Lambda$14/0x00000008000c2000.run and app.Main$$Lambda+0x00007f3c.run are both app.Main$$Lambda.run. So all
// lambdas of a class have one name; their bodies (lambda$main$0), named by the compiler, stay apart. Everything else,
// markers and native symbols among it, stays as it is.
std::string stable_name(std::string_view name);

}  // namespace tarsier::analysis
