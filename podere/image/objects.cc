#include "podere/image/objects.h"

#include <algorithm>
#include <array>
#include <vector>

namespace podere::image {
namespace {

/// A line that wanders: pieces of a rod whose direction turns a little at each.
struct Thread {
  Point begin, direction;
  int n_pieces;
  float piece, bend;  // how long a piece is, how far it turns
  float radius, taper;
  float z, albedo;
};

void add_thread(Dice& dice, Relief& relief, Thread thread) {
  float turn = dice.between(-thread.bend, thread.bend);
  for (int i = 0; i < thread.n_pieces; ++i) {
    turn = 0.8F * turn + 0.2F * dice.between(-thread.bend, thread.bend);
    thread.direction = thread.direction + turn * across(thread.direction);
    thread.direction = (1 / length(thread.direction)) * thread.direction;
    const Point next = thread.begin + thread.piece * thread.direction;
    const float next_radius = thread.radius * thread.taper;
    relief.add_rod({thread.begin, next, thread.radius, next_radius, thread.z, thread.albedo});
    thread.begin = next;
    thread.radius = next_radius;
  }
}

void draw_biological(Dice& dice, Relief& relief) {
  relief.add_noise({dice.next(), 200, 3, 12});
  const int n = dice.whole(2, 9);
  const float size = dice.between(50, 170);
  const bool has_pores = dice.happens(0.4F);
  for (int i = 0; i < n; ++i) {
    const Point center = relief.random_point(dice, -20);
    const float radius = size * dice.between(0.6F, 1.3F), flat = dice.between(0.5F, 0.9F);
    const Point along = dice.direction();
    const float squeeze = dice.between(0.5F, 1.0F), albedo = dice.between(0.9F, 1.2F);
    const float pore = dice.between(9, 16);
    const float lobes = dice.between(0, 0.18F);
    const Point lobe = dice.direction();
    relief.around(center, radius * 1.3F, [&](Point p, float& height, float& here) {
      const Point off = p - center;
      const float u = dot(off, along), v = dot(off, across(along)) / squeeze;
      const float far = std::sqrt(u * u + v * v) + 1e-3F;
      const float skew = (u * lobe.x + v * lobe.y) / far;
      const float edge = radius * (1 + lobes * (4 * skew * skew * skew - 3 * skew));  // three lobes
      if (far >= edge) return;
      float z = flat * std::sqrt(edge * edge - far * far);
      if (has_pores) {  // in rings and rows
        const float a = u / pore - std::floor(u / pore) - 0.5F, b = v / pore - std::floor(v / pore) - 0.5F;
        if (a * a + b * b < 0.09F) z -= 6;
      }
      if (z > height) {
        height = z;
        here = albedo;
      }
    });
  }
  relief.add_noise({dice.next(), dice.between(14, 50), 3, dice.between(1.5F, 5)});  // wrinkles
  for (int i = dice.whole(0, 14); i > 0; --i) {                                     // hairs
    add_thread(dice, relief,
               {relief.random_point(dice), dice.direction(), dice.whole(10, 30), 8, 0.25F, dice.between(2, 4), 0.985F,
                dice.between(10, 60), 1.1F});
  }
}

void draw_devices(Dice& dice, Relief& relief) {
  const Point along = dice.happens(0.7F) ? Point{1, 0} : dice.direction();
  const auto place = [&](Point p) { return Point{512, 360} + p.x * along + p.y * across(along); };
  const float flank = dice.between(2, 5);
  for (int i = dice.whole(2, 6); i > 0; --i) {  // pads and leads
    const float z = dice.between(8, 30), x = dice.between(-450, 450), y = dice.between(-320, 320);
    const float albedo = dice.between(0.6F, 1.5F);
    relief.add_box({place({x, y}), along, dice.between(50, 200), dice.between(30, 130), z, flank, albedo});
    if (dice.happens(0.6F))
      relief.add_box({place({x, y}), across(along), dice.between(200, 500), dice.between(4, 14), z, flank, albedo});
  }
  if (dice.happens(0.75F)) {  // two combs whose fingers lie between each other
    const int n = dice.whole(5, 14);
    const float pitch = dice.between(24, 52), finger = pitch * dice.between(0.15F, 0.3F), reach = dice.between(90, 240);
    const float x = dice.between(-200, 200), y = dice.between(-150, 150), z = dice.between(12, 36);
    const float albedo = dice.between(0.8F, 1.5F), half = 0.5F * pitch * static_cast<float>(n);
    for (int i = 0; i < n; ++i) {
      const float side = i % 2 == 0 ? -1.0F : 1.0F;
      const Point middle = place({x + side * 0.12F * reach, y - half + (static_cast<float>(i) + 0.5F) * pitch});
      relief.add_box({middle, along, reach, finger, z, flank, albedo});
    }
    for (const float side : {-1.0F, 1.0F}) {
      relief.add_box({place({x + side * 1.15F * reach, y}), along, 0.12F * reach, half, z, flank, albedo});
    }
  }
  for (int i = dice.whole(0, 3); i > 0; --i) {  // beams above
    relief.add_box({place({dice.between(-400, 400), dice.between(-300, 300)}),
                    dice.happens(0.5F) ? along : across(along), dice.between(100, 350), dice.between(8, 26),
                    dice.between(40, 70), flank, dice.between(0.8F, 1.3F)});
  }
  relief.add_noise({dice.next(), 40, 3, 0.5F});
}

void draw_fibers(Dice& dice, Relief& relief) {
  const float radius = dice.between(9, 30), bend = dice.between(0.02F, 0.09F);
  const bool is_aligned = dice.happens(0.3F);
  const Point common = dice.direction();
  const int n = dice.whole(12, 40);
  for (int i = 0; i < n; ++i) {
    const Point direction = is_aligned ? common + 0.25F * dice.direction() : dice.direction();
    const Point unit = (1 / length(direction)) * direction;
    const Point begin = relief.random_point(dice) - 700.0F * unit;
    add_thread(dice, relief,
               {begin, unit, 60, 25, bend, radius * dice.between(0.7F, 1.3F), 1, 6.0F * static_cast<float>(i),
                dice.between(0.85F, 1.15F)});
  }
  relief.add_noise({dice.next(), 12, 2, dice.between(0.2F, 1.2F)});
}

void draw_films(Dice& dice, Relief& relief) {
  relief.add_noise({dice.next(), dice.between(10, 70), 4, dice.between(0.8F, 4)});
  const bool has_edge = dice.happens(0.45F), has_cracks = dice.happens(0.6F);
  const Point normal = dice.direction(), middle{dice.between(250, 770), dice.between(180, 560)};
  if (has_edge) {  // of a layer that ends
    const float step = dice.between(10, 30), albedo = dice.between(0.6F, 0.85F);
    relief.everywhere([&](Point p, float& height, float& here) {
      const float far = dot(p - middle, normal);
      height += step * std::clamp(far / 4, 0.0F, 1.0F);
      if (far < 0) here = albedo;
    });
  }
  if (has_cracks) {
    for (int i = dice.whole(2, 9); i > 0; --i) {
      Point at = relief.random_point(dice, 50), direction = dice.direction();
      const float half_width = dice.between(1.2F, 4);
      for (int piece = dice.whole(10, 60); piece > 0; --piece) {
        direction = direction + 0.35F * dice.direction();
        direction = (1 / length(direction)) * direction;
        const Point next = at + 22.0F * direction, axis = next - at;
        const Point begin = at;
        relief.around(0.5F * (at + next), 16, [&](Point p, float& height, float& here) {
          const float along = std::clamp(dot(p - begin, axis) / dot(axis, axis), 0.0F, 1.0F);
          if (length(p - (begin + along * axis)) > half_width) return;
          height = std::min(height, -18.0F);
          here = 0.5F;
        });
        at = next;
      }
    }
  }
  for (int i = dice.whole(0, 25); i > 0; --i) relief.take_ball({relief.random_point(dice), dice.size(2, 10), 0});
  for (int i = dice.whole(0, 12); i > 0; --i) relief.add_ball({relief.random_point(dice), dice.size(2, 9), 0, 1.2F});
}

void draw_nanowires(Dice& dice, Relief& relief) {
  relief.add_noise({dice.next(), 60, 3, 2});
  const float radius = dice.between(2.2F, 6), wire = dice.between(120, 420);
  const bool is_aligned = dice.happens(0.4F), has_drops = dice.happens(0.4F);
  const Point common = dice.direction();
  for (int i = dice.whole(60, 220); i > 0; --i) {
    const Point direction = is_aligned ? common + 0.3F * dice.direction() : dice.direction();
    const Point a = relief.random_point(dice, 60);
    const Point b = a + (wire * dice.between(0.5F, 1.3F) / length(direction)) * direction;
    const float own = radius * dice.between(0.7F, 1.3F), z = dice.between(0, 60);
    relief.add_rod({a, b, own, own, z, dice.between(0.9F, 1.2F)});
    if (has_drops) relief.add_ball({b, own * 1.8F, z, 1.5F});
  }
}

void draw_particles(Dice& dice, Relief& relief) {
  relief.add_noise({dice.next(), 120, 4, dice.between(1, 5)});
  const float radius = dice.between(12, 44), spread = dice.between(0.05F, 0.45F);
  const int n_clusters = dice.whole(1, 8);
  for (int cluster = 0; cluster < n_clusters; ++cluster) {
    const Point center = relief.random_point(dice);
    const float wide = dice.between(40, 260);
    for (int i = dice.whole(4, 30); i > 0; --i) {
      const float far = wide * std::sqrt(dice.between(0, 1));
      const Point p = center + far * dice.direction();
      const float own = radius * dice.between(1 - spread, 1 + spread);
      relief.add_ball({p, own, own * dice.between(0, 0.8F), dice.between(0.9F, 1.25F)});
    }
  }
}

/// Where a lattice has a post or a hole nearest to p, as steps from it.
Point nearest_in_lattice(Point p, Point step, float pitch, bool is_hexagonal) {
  const float skew = is_hexagonal ? 0.5F : 0, squash = is_hexagonal ? 0.8660254F : 1;
  const float v = dot(p, across(step)) / (pitch * squash);
  const float row = std::floor(v + 0.5F);
  const float u = dot(p, step) / pitch - skew * row;
  const float column = std::floor(u + 0.5F);
  return {(u - column) * pitch, (v - row) * pitch * squash};
}

void draw_patterned(Dice& dice, Relief& relief) {
  const float pitch = dice.between(26, 130), share = dice.between(0.2F, 0.38F), z = dice.between(10, 40);
  const Point step = dice.direction(), origin = relief.random_point(dice);
  const int form = dice.whole(0, 3);  // lines, squares, round, round in a hexagonal lattice
  const bool is_hole = dice.happens(0.45F);
  const float albedo = dice.between(0.75F, 1.3F), half = share * pitch, flank = dice.between(1.5F, 4);
  relief.everywhere([&](Point p, float& height, float& here) {
    const Point off = nearest_in_lattice(p - origin, step, pitch, form == 3);
    const float inside = form == 0   ? half - std::abs(off.y)
                         : form == 1 ? half - std::max(std::abs(off.x), std::abs(off.y))
                                     : half - length(off);
    const float level = std::clamp(1 + inside / flank, 0.0F, 1.0F);
    height += is_hole ? -z * level : z * level;
    if (level > 0.5F) here = albedo;
  });
  for (int i = dice.whole(0, 6); i > 0; --i) relief.add_ball({relief.random_point(dice), dice.size(4, 20), 10, 1.2F});
  relief.add_noise({dice.next(), 30, 3, dice.between(0.3F, 1.5F)});
}

void draw_porous(Dice& dice, Relief& relief) {
  relief.add_noise({dice.next(), 90, 4, 8});
  const float most = dice.between(28, 85), least = most * dice.between(0.15F, 0.6F);
  const int n = static_cast<int>(dice.between(1.6F, 3.2F) * 786432.0F / (3.1F * least * most));
  for (int i = 0; i < n; ++i) {
    const float radius = dice.size(least, most);
    relief.take_ball({relief.random_point(dice, 30), radius, dice.between(-1.0F, 0.5F) * radius});
  }
}

void draw_powder(Dice& dice, Relief& relief) {
  relief.everywhere([](Point, float& height, float& here) {
    height = -40;
    here = 0.7F;
  });
  const float most = dice.between(35, 120), least = most * dice.between(0.08F, 0.3F);
  for (int i = dice.whole(250, 600); i > 0; --i) {
    const float radius = dice.size(least, most), base = dice.between(-30, 10);
    const Point center = relief.random_point(dice, 20);
    struct Facet {
      Point slope;
      float top;
    };
    std::array<Facet, 9> facets;  // a grain is what lies below all of these planes
    for (Facet& facet : facets) {
      const float steepness = dice.between(0.3F, 1.8F);
      facet = {steepness * dice.direction(), radius * dice.between(0.5F, 0.9F)};
    }
    facets[0].slope = 0.15F * facets[0].slope;
    const float albedo = dice.between(0.85F, 1.15F);
    relief.around(center, radius, [&](Point p, float& height, float& here) {
      const Point off = p - center;
      if (dot(off, off) > radius * radius) return;
      float z = radius;
      for (const Facet& facet : facets) z = std::min(z, facet.top - dot(facet.slope, off));
      if (z <= 0 || base + z <= height) return;
      height = base + z;
      here = albedo;
    });
  }
  relief.add_noise({dice.next(), 16, 3, dice.between(0.5F, 2.5F)});
}

void draw_tips(Dice& dice, Relief& relief) {
  relief.add_noise({dice.next(), 300, 3, dice.between(2, 10)});
  relief.everywhere([&](Point, float&, float& here) { here = 0.6F; });
  const int n = dice.happens(0.7F) ? 1 : dice.whole(2, 3);
  const Point common = dice.direction();
  for (int i = 0; i < n; ++i) {
    Point direction = common + 0.15F * dice.direction();
    direction = (1 / length(direction)) * direction;
    const Point apex{dice.between(300, 724), dice.between(200, 520)};
    const float sharp = dice.between(1.5F, 7), angle = dice.between(0.08F, 0.42F), z = dice.between(20, 60);
    const float shoulder = dice.between(120, 420), wider = angle * dice.between(0.3F, 1.6F);
    const Point neck = apex + shoulder * direction, end = apex + 1400.0F * direction;
    relief.add_rod({apex, neck, sharp, sharp + angle * shoulder, z, 1.15F});
    relief.add_rod({neck, end, sharp + angle * shoulder, sharp + angle * shoulder + wider * 900, z, 1.15F});
  }
  relief.add_noise({dice.next(), 20, 3, dice.between(0.3F, 1.5F)});
}

}  // namespace

void draw_object(int kind, Dice& dice, Relief& relief) {
  constexpr std::array kDraw = {draw_biological, draw_devices,   draw_fibers, draw_films,  draw_nanowires,
                                draw_particles,  draw_patterned, draw_porous, draw_powder, draw_tips};
  kDraw[static_cast<std::size_t>(kind)](dice, relief);
}

}  // namespace podere::image
