#include "export/speedup_stack.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "analysis/machine_stack.h"
#include "analysis/wording.h"
#include "export/escape.h"

namespace tarsier::exporting {
namespace {

using analysis::MachinePart;
using analysis::MachinePiece;
using analysis::MachineStack;

constexpr double kWidth = 900, kHeight = 320, kLeft = 50, kTop = 60, kRowHeight = 22;
constexpr size_t kMostPieces = 300;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

std::string text_at(double x, double y, std::string_view anchor, const std::string& text) {
  return "<text x='" + number(x) + "' y='" + number(y) + "' text-anchor='" + std::string(anchor) + "'>" +
         visible(text, "<>&'\"") + "</text>\n";
}

// 1, 2 or 5 times a power of ten: at most so many of them reach up to the end.
double step_of_scale(double end, int most) {
  double step = std::pow(10, std::floor(std::log10(std::max(end, 1e-9) / most)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (end / (step * factor) <= most) return step * factor;
  }
  return step * 10;
}

class Picture {
 public:
  Picture(const analysis::Model& model, std::vector<MachinePiece> pieces)
      : model_(model), pieces_(std::move(pieces)), whole_(analysis::machine_stack(model)) {
    begin_ = pieces_.front().from_ns;
    seconds_ = static_cast<double>(pieces_.back().to_ns - begin_) / 1e9;
    top_ = model.cpus;
    // Ticks come late: a second may have more of them than fit.
    std::vector<double> cpus;
    for (const MachinePiece& piece : pieces_) cpus.push_back(piece.stack.cpus);
    std::nth_element(cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(cpus.size() / 2), cpus.end());
    top_ = std::max({top_, std::ceil(cpus[cpus.size() / 2] - 0.1), 1.0});
  }

  void write(std::ostream& out) const {
    const double height = kTop + kHeight + 50 + kRowHeight * static_cast<double>(whole_.parts.size());
    out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << number(kLeft + kWidth + 30) << " "
        << number(height) << "' font-family='sans-serif' font-size='13' role='img'>\n"
        << "<title>Where the time of all CPUs went</title>\n<rect width='100%' height='100%' fill='#ffffff'/>\n"
        << "<text x='" << number(kLeft) << "' y='24' font-size='17'>Where the time of all CPUs went</text>\n"
        << text_at(kLeft, 44, "start",
                   "CPUs, over " + analysis::words_of_time(model_.duration) +
                       (model_.jvm.empty() ? "" : " of JVM " + model_.jvm));
    write_scale(out);
    for (const MachinePiece& piece : pieces_) write_piece(out, piece);
    write_legend(out, kTop + kHeight + 50);
    out << "</svg>\n";
  }

 private:
  [[nodiscard]] double x_of(int64_t time_ns) const {
    return kLeft + kWidth * (static_cast<double>(time_ns - begin_) / 1e9) / seconds_;
  }
  [[nodiscard]] double y_of(double cpus) const { return kTop + kHeight * (1 - std::min(cpus / top_, 1.0)); }

  void write_scale(std::ostream& out) const {
    const double cpus = std::max(step_of_scale(top_, 8), 1.0);
    for (double at = 0; at <= top_ * 1.0001; at += cpus) {
      out << "<path d='M" << number(kLeft) << " " << number(y_of(at)) << "h" << number(kWidth)
          << "' stroke='#cccccc'/>\n"
          << text_at(kLeft - 8, y_of(at) + 4, "end", std::to_string(std::lround(at)));
    }
    const double seconds = step_of_scale(seconds_, 10);
    for (double at = 0; at <= seconds_ * 1.0001; at += seconds) {
      out << text_at(kLeft + kWidth * at / seconds_, kTop + kHeight + 18, "middle",
                     analysis::words_of_time(Nanos(static_cast<int64_t>(at * 1e9))));
    }
  }

  void write_piece(std::ostream& out, const MachinePiece& piece) const {
    const double left = x_of(piece.from_ns), width = x_of(piece.to_ns) - left;
    double below = 0;
    for (const MachinePart& part : piece.stack.parts) {
      const double low = y_of(below), high = y_of(below + part.cpus);
      below += part.cpus;
      if (low - high < 0.05) continue;
      out << "<rect x='" << number(left) << "' y='" << number(high) << "' width='" << number(width) << "' height='"
          << number(low - high) << "' fill='" << part.color << "'><title>" << part.name << ": " << number(part.cpus)
          << " CPUs, " << analysis::words_of_time(part.time) << "</title></rect>\n";
    }
  }

  void write_legend(std::ostream& out, double top) const {
    for (const MachinePart& part : whole_.parts) {
      if (part.time.count == 0) continue;
      const double share = static_cast<double>(part.time.count) / static_cast<double>(whole_.whole.count);
      out << "<rect x='" << number(kLeft) << "' y='" << number(top - 12) << "' width='14' height='14' fill='"
          << part.color << "' stroke='#888888' stroke-width='0.5'/>\n"
          << text_at(kLeft + 22, top, "start", part.name)
          << text_at(kLeft + 300, top, "end", analysis::words_of_time(part.time))
          << text_at(kLeft + 380, top, "end", analysis::words_of_share(share))
          << text_at(kLeft + 480, top, "end", number(part.cpus) + " CPUs");
      top += kRowHeight;
    }
  }

  const analysis::Model& model_;
  std::vector<MachinePiece> pieces_;
  MachineStack whole_;
  int64_t begin_ = 0;
  double seconds_ = 1, top_ = 1;
};

}  // namespace

Status export_speedup_stack(const analysis::Model& model, std::ostream& out) {
  std::vector<MachinePiece> pieces = analysis::machine_stack_over_time(model, kMostPieces);
  if (pieces.empty()) {
    return Error{Errc::kUsage, "the recording does not know what became of the CPUs' time"};
  }
  Picture(model, std::move(pieces)).write(out);
  return {};
}

}  // namespace tarsier::exporting
