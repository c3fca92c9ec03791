// The perfect index of Dobutsu positions, for tables over all of them.
//
// A position is looked at from its mover's side, up to left-right mirroring. The two lions make a
// class; the ten squares that they leave are its cells, 0 to 9 in the order of the squares. The
// giraffes, the elephants and the chicks are then placed in turn, two each, on cells or in hands:
//
//   index = offset[class][code of the giraffes][code of the elephants] + code of the chicks
//
// Chicks count only the cells that giraffes and elephants leave; their codes are those below
// 3 + 8n^2 for n such cells, so that there are no gaps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "dobutsu/dobutsu.hpp"

namespace deskovky {

// The pieces but the lions, on the cells of a class. The enemy's hand has what is nowhere else.
struct Cells {
  enum Kind { G, E, C, H, kNumKinds };
  using Bits = Dobutsu::Bits;  // one bit a cell

  static constexpr int kNum = 10;
  static constexpr Bits kAll = (1 << kNum) - 1;

  std::array<Bits, kNumKinds> own = {}, enemy = {};
  std::array<std::uint8_t, 3> own_hand = {};

  Bits own_pieces() const { return own[G] | own[E] | own[C] | own[H]; }
  Bits enemy_pieces() const { return enemy[G] | enemy[E] | enemy[C] | enemy[H]; }
  Bits free_of_large() const { return kAll & ~(own[G] | enemy[G] | own[E] | enemy[E]); }
  int enemy_hand(int kind) const {
    const Bits hens = kind == C ? own[H] | enemy[H] : 0;
    return 2 - std::popcount<Bits>(own[kind] | enemy[kind] | hens) - own_hand[kind];
  }
  bool operator==(const Cells&) const = default;
};

// The codes of a pair of like pieces, each in a hand or on a place of the board, in one of several
// kinds (whose it is, for chicks also whether it is a hen). First come those with both in hand,
// then, for each place of the higher piece on the board, those with the other one in hand, and
// those with it on each lower place: pairs on the first n places have the codes below first(n).
template <int kKinds>
class PairCodes {
 public:
  struct Pair {
    std::uint8_t num_on_board, own_hand;
    std::array<std::uint8_t, 2> kinds, places;  // of those on the board
  };

  static constexpr int first(int place) {
    return 3 + 2 * kKinds * place + kKinds * kKinds * place * (place - 1) / 2;
  }
  static constexpr int kNum = first(Cells::kNum);

  static constexpr int code(int own_hand) { return own_hand; }
  static constexpr int code(int place, int kind, int own_hand) {
    return first(place) + 2 * kind + own_hand;
  }
  static constexpr int code(int high, int high_kind, int low, int low_kind) {
    return first(high) + 2 * kKinds + (low * kKinds + low_kind) * kKinds + high_kind;
  }

  PairCodes() {
    using Byte = std::uint8_t;
    for (Byte own_hand = 0; own_hand < 3; ++own_hand)
      pairs_[code(own_hand)] = {0, own_hand, {}, {}};
    for (Byte high = 0; high < Cells::kNum; ++high) {
      for (Byte kind = 0; kind < kKinds; ++kind) {
        for (Byte own_hand = 0; own_hand < 2; ++own_hand) {
          pairs_[code(high, kind, own_hand)] = {1, own_hand, {kind}, {high}};
        }
        for (Byte low = 0; low < high; ++low) {
          for (Byte low_kind = 0; low_kind < kKinds; ++low_kind) {
            pairs_[code(high, kind, low, low_kind)] = {2, 0, {kind, low_kind}, {high, low}};
          }
        }
      }
    }
  }

  const Pair& operator[](int code) const { return pairs_[code]; }

 private:
  std::array<Pair, kNum> pairs_ = {};
};

class Placements {
 public:
  using Bits = Cells::Bits;

  // Which positions have an index.
  enum Domain {
    kAll,        // all with two lions, the mover's not on its last rank
    kUndecided,  // of these, those where the enemy lion has not arrived, and can be captured
                 // neither by the lion nor by giraffes nor by elephants
  };

  struct Class {
    int own_lion, enemy_lion;               // squares as the mover sees them
    bool is_symmetric;                      // both on file b: mirror images are in the same class
    std::vector<Bits> mirrored = {};        // of a symmetric class, for each set of cells
    std::array<Bits, 4> own_checks = {};    // cells from which own G E C H attack the enemy lion
    std::array<Bits, 4> enemy_checks = {};  // and enemy ones the own lion

    Bits cells(Bits squares) const { return static_cast<Bits>(cells_of(squares)); }
    Bits squares(Bits cells) const {
      const auto [low, high] = std::minmax(own_lion, enemy_lion);
      return with_gap(with_gap(cells, low), high);
    }

    // Takes one set, or several sets 16 bits apart.
    std::uint64_t cells_of(std::uint64_t squares) const {
      const auto [low, high] = std::minmax(own_lion, enemy_lion);
      return without(without(squares, high), low);
    }
  };

  struct LionPair {
    int lion_class = -1;  // none: outside the domain
    bool is_mirrored = false;
  };

  explicit Placements(Domain domain) {
    number_classes(domain);
    for (const Class& lions : classes_) number_positions(domain, lions);
    offsets_.push_back(size_);
  }

  std::uint32_t size() const { return size_; }
  int num_classes() const { return static_cast<int>(classes_.size()); }
  const Class& lion_class(int i) const { return classes_[i]; }
  LionPair lion_pair(int own_lion, int enemy_lion) const {
    return lion_pairs_[own_lion][enemy_lion];
  }

  std::uint32_t index(int lion_class, const Cells& cells) const {
    const std::uint32_t index = index_as_seen(lion_class, cells);
    if (!classes_[lion_class].is_symmetric) return index;
    return std::min(index, index_as_seen(lion_class, mirrored(lion_class, cells)));
  }

  // True if the index of the mirror image stands for this one as well.
  bool is_shadow(int lion_class, const Cells& cells, std::uint32_t index) const {
    return classes_[lion_class].is_symmetric && this->index(lion_class, cells) != index;
  }

  bool is_own_mirror_image(int lion_class, const Cells& cells) const {
    return classes_[lion_class].is_symmetric && mirrored(lion_class, cells) == cells;
  }

  // The index of a position of the domain that has all its pieces.
  std::uint32_t index(const Dobutsu::Position& position) const {
    const Dobutsu::Side& own = position.own();
    const Dobutsu::Side& enemy = position.enemy();
    const LionPair pair = lion_pairs_[std::countr_zero(own.pieces[Dobutsu::L])]
                                     [11 - std::countr_zero(enemy.pieces[Dobutsu::L])];
    std::uint64_t own_sets = sets_of(own), enemy_sets = turned(sets_of(enemy));
    if (pair.is_mirrored) {
      own_sets = mirrored(own_sets);
      enemy_sets = mirrored(enemy_sets);
    }
    own_sets = classes_[pair.lion_class].cells_of(own_sets);
    enemy_sets = classes_[pair.lion_class].cells_of(enemy_sets);
    Cells cells;
    std::memcpy(&cells.own, &own_sets, sizeof own_sets);
    std::memcpy(&cells.enemy, &enemy_sets, sizeof enemy_sets);
    for (const int kind : {Cells::G, Cells::E, Cells::C}) {
      cells.own_hand[kind] = own.hand[Dobutsu::G + kind];
    }
    return index(pair.lion_class, cells);
  }

  // The position, with player 0 to move.
  Dobutsu::Position position(int lion_class, const Cells& cells) const {
    const Class& lions = classes_[lion_class];
    Dobutsu::Position position;
    auto& [own, enemy] = position.sides;
    own.pieces[Dobutsu::L] = Dobutsu::bit(lions.own_lion);
    enemy.pieces[Dobutsu::L] = Dobutsu::bit(11 - lions.enemy_lion);
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) {
      own.pieces[Dobutsu::G + kind] = lions.squares(cells.own[kind]);
      enemy.pieces[Dobutsu::G + kind] = Dobutsu::turned(lions.squares(cells.enemy[kind]));
    }
    for (const int kind : {Cells::G, Cells::E, Cells::C}) {
      own.hand[Dobutsu::G + kind] = cells.own_hand[kind];
      enemy.hand[Dobutsu::G + kind] = static_cast<std::uint8_t>(cells.enemy_hand(kind));
    }
    return position;
  }

  // Positions that differ only in their chicks follow each other.
  struct Block {
    std::uint32_t begin, end;
    Cells cells;                         // without chicks
    std::array<Bits, Cells::kNum> free;  // for these, ascending
  };

  // Returns one position of a block.
  Cells cells(const Block& block, std::uint32_t index) const {
    Cells cells = block.cells;
    put(cells, Cells::C, chick_codes_[static_cast<int>(index - block.begin)], block.free);
    return cells;
  }

  // All positions fall into parts, numbered from 0: those of one class and one code of giraffes.
  int num_parts() const { return num_classes() * kNumLarge; }
  static int class_of_part(int part) { return part / kNumLarge; }
  std::pair<std::uint32_t, std::uint32_t> range(int part) const {
    return {offsets_[part * kNumLarge], offsets_[(part + 1) * kNumLarge]};
  }

  // Calls visit(block) for each block of a part, ascending.
  template <class Visit>
  void for_each_block(int part, Visit&& visit) const {
    for (int elephants = 0; elephants < kNumLarge; ++elephants) {
      const int i = part * kNumLarge + elephants;
      if (offsets_[i] != offsets_[i + 1]) visit(block(i));
    }
  }

  // Returns the class and the cells of an index.
  std::pair<int, Cells> at(std::uint32_t index) const {
    const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), index);
    const int i = static_cast<int>(after - offsets_.begin()) - 1;
    return {class_of_part(i / kNumLarge), cells(block(i), index)};
  }

  // Several sets of squares are handled at once, 16 bits apart.

  static constexpr std::uint64_t four(std::uint64_t set) { return set * 0x0001000100010001; }

  // As the other player sees them.
  static constexpr std::uint64_t turned(std::uint64_t sets) {
    sets = (sets >> 1 & four(0x5555)) | (sets & four(0x5555)) << 1;
    sets = (sets >> 2 & four(0x3333)) | (sets & four(0x3333)) << 2;
    sets = (sets >> 4 & four(0x0f0f)) | (sets & four(0x0f0f)) << 4;
    sets = (sets >> 8 & four(0x00ff)) | (sets & four(0x00ff)) << 8;
    return sets >> 4 & four(Dobutsu::kAll);
  }

  static constexpr std::uint64_t mirrored(std::uint64_t sets) {
    const std::uint64_t file_b = four(Dobutsu::kAll & ~(Dobutsu::kFileA | Dobutsu::kFileC));
    return (sets & file_b) | (sets & four(Dobutsu::kFileA)) << 2 |
           (sets >> 2 & four(Dobutsu::kFileA));
  }
  static constexpr int mirrored(int square) { return square / 3 * 3 + 2 - square % 3; }

  // The squares from which an own piece of a kind steps onto `square`, and onto which it steps.
  static constexpr int kLion = -1;
  static Bits origins(int kind, int square) { return reach(kind, square, true); }
  static Bits targets(int kind, int square) { return reach(kind, square, false); }

 private:
  using LargeCodes = PairCodes<2>;  // giraffes, elephants; kinds: own, the enemy's
  using ChickCodes = PairCodes<4>;  // kinds: own chick, enemy chick, own hen, enemy hen
  static constexpr int kNumLarge = LargeCodes::kNum;

  static int large_code(const Cells& cells, int kind) {
    const Bits enemy = cells.enemy[kind], both = cells.own[kind] | enemy;
    if (!both) return LargeCodes::code(cells.own_hand[kind]);
    const int high = std::bit_width(both) - 1, high_kind = enemy >> high & 1;
    const Bits rest = both ^ Dobutsu::bit(high);
    if (!rest) return LargeCodes::code(high, high_kind, cells.own_hand[kind]);
    const int low = std::countr_zero(rest);
    return LargeCodes::code(high, high_kind, low, enemy >> low & 1);
  }

  static int chick_code(const Cells& cells) {
    const Bits enemy = cells.enemy[Cells::C] | cells.enemy[Cells::H];
    const Bits hens = cells.own[Cells::H] | cells.enemy[Cells::H];
    const Bits both = cells.own[Cells::C] | enemy | hens, free = cells.free_of_large();
    if (!both) return ChickCodes::code(cells.own_hand[Cells::C]);
    const auto kind = [&](Bits chick) { return !!(enemy & chick) + 2 * !!(hens & chick); };
    const auto place = [&](Bits chick) { return std::popcount<Bits>(free & (chick - 1)); };
    const Bits high = std::bit_floor(both), low = both ^ high;
    if (!low) return ChickCodes::code(place(high), kind(high), cells.own_hand[Cells::C]);
    return ChickCodes::code(place(high), kind(high), place(low), kind(low));
  }

  // Puts a pair with its code on the board and in the hands; `places` are those of the code.
  template <class Pair>
  static void put(Cells& cells, int piece, const Pair& pair,
                  const std::array<Bits, Cells::kNum>& places) {
    cells.own_hand[piece] = pair.own_hand;
    for (int i = 0; i < pair.num_on_board; ++i) {
      auto& side = pair.kinds[i] & 1 ? cells.enemy : cells.own;
      side[piece + (pair.kinds[i] >> 1)] |= places[pair.places[i]];
    }
  }

  int offset(int lion_class, int giraffes, int elephants) const {
    return (lion_class * kNumLarge + giraffes) * kNumLarge + elephants;
  }

  std::uint32_t index_as_seen(int lion_class, const Cells& cells) const {
    const int giraffes = large_code(cells, Cells::G), elephants = large_code(cells, Cells::E);
    return offsets_[offset(lion_class, giraffes, elephants)] + chick_code(cells);
  }

  Cells mirrored(int lion_class, const Cells& cells) const {
    const auto& mirrored = classes_[lion_class].mirrored;
    Cells result = cells;
    for (Bits& bits : result.own) bits = mirrored[bits];
    for (Bits& bits : result.enemy) bits = mirrored[bits];
    return result;
  }

  Block block(int offset) const {
    Block block = {offsets_[offset], offsets_[offset + 1], large_pieces(offset), {}};
    block.free = places(block.cells.free_of_large());
    return block;
  }

  Cells large_pieces(int offset) const {
    static constexpr std::array<Bits, Cells::kNum> kCells = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    Cells cells;
    put(cells, Cells::G, large_codes_[offset / kNumLarge % kNumLarge], kCells);
    put(cells, Cells::E, large_codes_[offset % kNumLarge], kCells);
    return cells;
  }

  // The single bits of a set, ascending.
  static std::array<Bits, Cells::kNum> places(Bits set) {
    std::array<Bits, Cells::kNum> places = {};
    for (int n = 0; set; set &= set - 1) places[n++] = set & -set;
    return places;
  }

  void number_classes(Domain domain) {
    for (int own_lion = 0; own_lion < 9; ++own_lion) {
      for (int enemy_lion = 0; enemy_lion < 12; ++enemy_lion) {
        if (own_lion == enemy_lion) continue;
        const bool is_decided = enemy_lion < 3 || origins(kLion, enemy_lion) >> own_lion & 1;
        if (domain == kUndecided && is_decided) continue;
        LionPair& pair = lion_pairs_[own_lion][enemy_lion];
        pair = lion_pairs_[mirrored(own_lion)][mirrored(enemy_lion)];
        pair.is_mirrored = pair.lion_class >= 0;
        if (pair.is_mirrored) continue;
        pair.lion_class = num_classes();
        add_class(own_lion, enemy_lion);
      }
    }
  }

  void add_class(int own_lion, int enemy_lion) {
    Class lions = {own_lion, enemy_lion, own_lion % 3 == 1 && enemy_lion % 3 == 1};
    for (Bits cells = 0; lions.is_symmetric && cells <= Cells::kAll; ++cells) {
      lions.mirrored.push_back(
          lions.cells(static_cast<Bits>(mirrored(std::uint64_t{lions.squares(cells)}))));
    }
    const Bits others = Dobutsu::kAll & ~(Dobutsu::bit(own_lion) | Dobutsu::bit(enemy_lion));
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) {
      lions.own_checks[kind] = lions.cells(origins(kind, enemy_lion) & others);
      lions.enemy_checks[kind] =
          lions.cells(Dobutsu::turned(origins(kind, 11 - own_lion)) & others);
    }
    classes_.push_back(std::move(lions));
  }

  void number_positions(Domain domain, const Class& lions) {
    for (int i = 0; i < kNumLarge * kNumLarge; ++i) {
      offsets_.push_back(size_);
      const Cells cells = large_pieces(i);
      const Bits giraffes = cells.own[Cells::G] | cells.enemy[Cells::G];
      const Bits elephants = cells.own[Cells::E] | cells.enemy[Cells::E];
      const bool is_decided = (cells.own[Cells::G] & lions.own_checks[Cells::G]) ||
                              (cells.own[Cells::E] & lions.own_checks[Cells::E]);
      if (giraffes & elephants || (domain == kUndecided && is_decided)) continue;
      size_ += ChickCodes::first(std::popcount(cells.free_of_large()));
    }
  }

  // The squares one step before (or after) a square for an own piece, not looking at others.
  static Bits reach(int kind, int square, bool is_before) {
    Dobutsu::Side all;
    all.pieces[Dobutsu::G + kind] = Dobutsu::kAll;
    Bits reached = 0;
    for (int direction = 0; direction < 8; ++direction) {
      if (!Dobutsu::movers(all, direction)) continue;
      const int taken = is_before ? Dobutsu::opposite(direction) : direction;
      reached |= Dobutsu::step(Dobutsu::bit(square), taken);
    }
    return reached;
  }

  static std::uint64_t sets_of(const Dobutsu::Side& side) {
    std::uint64_t sets;
    std::memcpy(&sets, &side.pieces[Dobutsu::G], sizeof sets);
    return sets;
  }

  // Takes one square out, or puts an empty one in.
  static constexpr std::uint64_t without(std::uint64_t sets, int square) {
    const std::uint64_t below = Dobutsu::bit(square) - 1;
    return (sets & four(below)) | (sets >> 1 & four(Dobutsu::kAll & ~below));
  }
  static constexpr Bits with_gap(Bits set, int square) {
    const Bits below = Dobutsu::bit(square) - 1;
    return static_cast<Bits>((set & below) | (set & ~below) << 1);
  }

  std::array<std::array<LionPair, 12>, 12> lion_pairs_;  // by the mover's lion, then the enemy's
  std::vector<Class> classes_;
  LargeCodes large_codes_;
  ChickCodes chick_codes_;
  std::vector<std::uint32_t> offsets_;  // [class][giraffes][elephants], and the size at the end
  std::uint32_t size_ = 0;
};

}  // namespace deskovky
