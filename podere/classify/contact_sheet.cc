#include "podere/classify/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "podere/base/base64.h"
#include "podere/base/markup.h"
#include "podere/base/printable.h"
#include "podere/image/encode_jpeg.h"
#include "podere/image/resize.h"

namespace podere::classify {
namespace {

constexpr std::uint32_t kThumbWidth = 200;
constexpr std::uint32_t kThumbHeight = 150;
constexpr int kThumbQuality = 80;
constexpr std::size_t kMostClassLines = 20;
constexpr std::size_t kMostNameBytes = 200;

constexpr const char* kHead = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{0}</title>
<style>
body {{ font: 13px system-ui, sans-serif; color: #333; background: #fff; margin: 24px; }}
h1 {{ font-size: 20px; color: #111; overflow-wrap: anywhere; }}
h2 {{ font-size: 16px; color: #14508c; margin: 28px 0 4px; }}
p {{ margin: 0 0 10px; }}
td, th {{ padding: 2px 16px 2px 0; text-align: left; vertical-align: top; font-weight: normal; overflow-wrap: anywhere; }}
th {{ color: #666; }}
td.number {{ text-align: right; }}
.cards {{ display: flex; flex-wrap: wrap; gap: 14px; }}
figure {{ margin: 0; width: {1}px; break-inside: avoid; }}
figure div {{ height: {2}px; background: #eee; display: flex; align-items: center; justify-content: center; }}
img {{ display: block; }}
figcaption {{ overflow-wrap: anywhere; }}
.label {{ font-weight: 600; color: #111; }}
.name {{ color: #666; font-size: 12px; }}
.bar {{ display: inline-block; width: 120px; height: 8px; background: #ddd; }}
.bar span {{ display: block; height: 100%; background: #1f77b4; }}
</style>
</head>
<body>
<h1>{0}</h1>
)html";

/// Any bytes as text between tags.
std::string html_text(const std::string& text) { return markup_text(printable_line(text, kMostNameBytes)); }

/// Up to `most` of them, evenly.
std::vector<std::size_t> spread(const std::vector<std::size_t>& all, std::size_t most) {
  const std::size_t n = std::min(all.size(), most);
  std::vector<std::size_t> some;
  for (std::size_t k = 0; k < n; ++k) some.push_back(all[k * all.size() / n]);
  return some;
}

/// All pictures, read once.
struct Survey {
  std::vector<std::size_t> usable;
  std::vector<std::size_t> faulty;
  std::vector<std::pair<float, std::size_t>> unsure;  // score and picture, the least first
  std::map<std::string, std::size_t> n_of;            // by label

  explicit Survey(const SheetSource& source) {
    for (std::size_t i = 0; i < source.n_pictures; ++i) {
      const SheetRow row = source.row(i);
      if (!row.fault.empty()) {
        faulty.push_back(i);
        continue;
      }
      usable.push_back(i);
      ++n_of[row.label];
      note_score(std::isnan(row.score) ? -1 : row.score, i);
    }
  }

 private:
  void note_score(float score, std::size_t i) {
    const std::pair entry(score, i);
    if (unsure.size() == kMostUnsure && unsure.back() < entry) return;
    unsure.insert(std::upper_bound(unsure.begin(), unsure.end(), entry), entry);
    if (unsure.size() > kMostUnsure) unsure.pop_back();
  }
};

/// The <img> of a picture, which keeps its proportions. A small one stays as it is.
std::string thumbnail(const image::Picture& picture, const std::string& words) {
  const double factor = std::min(
      {1.0, static_cast<double>(kThumbWidth) / picture.width, static_cast<double>(kThumbHeight) / picture.height});
  const auto side = [&](std::uint32_t n) {
    return std::max(1U, static_cast<std::uint32_t>(std::lround(factor * static_cast<double>(n))));
  };
  const std::vector<std::uint8_t> jpeg =
      image::encode_jpeg(image::resize(picture, side(picture.width), side(picture.height)), kThumbQuality);
  return fmt::format("<img src=\"data:image/jpeg;base64,{}\" width=\"{}\" height=\"{}\" alt=\"{}\">",
                     to_base64(std::as_bytes(std::span(jpeg))), side(picture.width), side(picture.height), words);
}

/// A bar and the number: of probabilities per cent.
std::string bar(double part) {
  if (std::isnan(part)) return "no score";
  const double percent = 100 * std::clamp(part, 0.0, 1.0);
  return fmt::format("<span class=\"bar\"><span style=\"width:{0:.0f}%\"></span></span> {0:.0f} %", percent);
}

std::string card(const SheetRow& row, const image::Picture& picture) {
  const std::string name = html_text(row.name), label = html_text(row.label);
  return fmt::format(
      "<figure><div>{}</div><figcaption><span class=\"label\">{}</span><br>{}<br><span class=\"name\">{}</span>"
      "</figcaption></figure>\n",
      thumbnail(picture, name + ": " + label), label, bar(row.score), name);
}

/// The cards of pictures, by their numbers; none where a picture cannot be read.
std::map<std::size_t, std::string> cards_of(const SheetSource& source, const std::set<std::size_t>& pictures) {
  std::map<std::size_t, std::string> cards;
  for (const std::size_t i : pictures) {
    if (const auto picture = source.picture(i)) cards[i] = card(source.row(i), *picture);
  }
  return cards;
}

std::string card_block(const std::string& heading, const std::string& words, const std::vector<std::size_t>& pictures,
                       const std::map<std::size_t, std::string>& cards) {
  std::string html = fmt::format("<h2>{}</h2>\n<p>{}</p>\n<div class=\"cards\">\n", heading, words);
  for (const std::size_t i : pictures) {
    if (const auto card = cards.find(i); card != cards.end()) html += card->second;
  }
  return html + "</div>\n";
}

std::string facts_table(const SheetSource& source, const Survey& survey) {
  std::string html = "<table>\n";
  const auto add = [&](const std::string& name, const std::string& value) {
    html += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", html_text(name), html_text(value));
  };
  for (const auto& [name, value] : source.facts) add(name, value);
  add("pictures", std::to_string(source.n_pictures));
  if (!survey.faulty.empty()) add("that could not be used", std::to_string(survey.faulty.size()));
  return html + "</table>\n";
}

/// How many pictures each class has, the most first.
std::string class_table(const Survey& survey) {
  std::vector<std::pair<std::string, std::size_t>> classes(survey.n_of.begin(), survey.n_of.end());
  std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const std::size_t n = std::min(classes.size(), kMostClassLines);
  std::string html = "<h2>Classes</h2>\n<table>\n";
  for (const auto& [label, count] : std::span(classes).first(n)) {
    html += fmt::format("<tr><td>{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n", html_text(label), count,
                        bar(static_cast<double>(count) / static_cast<double>(survey.usable.size())));
  }
  if (classes.size() > n) html += fmt::format("<tr><th>and {} more</th></tr>\n", classes.size() - n);
  return html + "</table>\n";
}

std::string fault_list(const SheetSource& source, const std::vector<std::size_t>& faulty) {
  const std::vector<std::size_t> shown = spread(faulty, kMostFaults);
  std::string html = fmt::format("<h2>Not used</h2>\n<p>{} of {}, and why.</p>\n<ul>\n", shown.size(), faulty.size());
  for (const std::size_t i : shown) html += fmt::format("<li>{}</li>\n", html_text(source.row(i).fault));
  return html + "</ul>\n";
}

/// Sorts them by their labels. Those of a label stay in the order of the list.
void sort_by_label(const SheetSource& source, std::vector<std::size_t>& pictures) {
  std::vector<std::pair<std::string, std::size_t>> by_label;
  for (const std::size_t i : pictures) by_label.emplace_back(source.row(i).label, i);
  std::sort(by_label.begin(), by_label.end());
  std::transform(by_label.begin(), by_label.end(), pictures.begin(), [](const auto& entry) { return entry.second; });
}

}  // namespace

std::string contact_sheet(const SheetSource& source) {
  const Survey survey(source);
  std::vector<std::size_t> shown = spread(survey.usable, kMostSpread);
  std::vector<std::size_t> unsure;
  for (const auto& [score, i] : survey.unsure) unsure.push_back(i);
  std::set<std::size_t> needed(shown.begin(), shown.end());
  needed.insert(unsure.begin(), unsure.end());
  const std::map<std::size_t, std::string> cards = cards_of(source, needed);
  sort_by_label(source, shown);

  std::string html = fmt::format(kHead, html_text(source.title), kThumbWidth, kThumbHeight);
  html += facts_table(source, survey);
  if (!survey.usable.empty()) {
    html += class_table(survey);
    html += card_block("Pictures", "Evenly from the list, sorted by class.", shown, cards);
    html += card_block("Least sure", "Those with the lowest scores. Look at these first.", unsure, cards);
  }
  if (!survey.faulty.empty()) html += fault_list(source, survey.faulty);
  return html + "</body>\n</html>\n";
}

}  // namespace podere::classify
