// What the draughts games share: boards as sets of squares, steps and jumps of many pieces at once,
// the piece that must go on jumping, and FENs. The rules themselves are in each game's header.
#pragma once

#include <bit>
#include <utility>

#include "core/fen.hpp"
#include "core/game.hpp"

namespace deskovky {

// A set of up to 128 squares, with the operators of an unsigned integer.
struct Bits128 {
  std::uint64_t low = 0, high = 0;

  constexpr explicit operator bool() const { return (low | high) != 0; }
  constexpr bool operator==(const Bits128&) const = default;
  constexpr Bits128 operator~() const { return {~low, ~high}; }
  constexpr Bits128& operator&=(Bits128 other) { return *this = *this & other; }
  constexpr Bits128& operator|=(Bits128 other) { return *this = *this | other; }
  constexpr Bits128& operator^=(Bits128 other) { return *this = *this ^ other; }

  friend constexpr Bits128 operator&(Bits128 a, Bits128 b) {
    return {a.low & b.low, a.high & b.high};
  }
  friend constexpr Bits128 operator|(Bits128 a, Bits128 b) {
    return {a.low | b.low, a.high | b.high};
  }
  friend constexpr Bits128 operator^(Bits128 a, Bits128 b) {
    return {a.low ^ b.low, a.high ^ b.high};
  }
  // By 0 to 127. The shift in two parts is right for 0 too.
  friend constexpr Bits128 operator<<(Bits128 bits, int n) {
    if (n >= 64) return {0, bits.low << (n - 64)};
    return {bits.low << n, bits.high << n | bits.low >> 1 >> (63 - n)};
  }
  friend constexpr Bits128 operator>>(Bits128 bits, int n) {
    if (n >= 64) return {bits.high >> (n - 64), 0};
    return {bits.low >> n | bits.high << 1 << (63 - n), bits.high >> n};
  }
};

// What both kinds of sets can do.
struct SquareSets {
  static constexpr int count(std::uint64_t bits) { return std::popcount(bits); }
  static constexpr int count(Bits128 bits) { return count(bits.low) + count(bits.high); }

  // The lowest square of a set that has one.
  static constexpr int first(std::uint64_t bits) { return std::countr_zero(bits); }
  static constexpr int first(Bits128 bits) {
    return bits.low ? first(bits.low) : 64 + first(bits.high);
  }

  static constexpr std::uint64_t without_first(std::uint64_t bits) { return bits & (bits - 1); }
  static constexpr Bits128 without_first(Bits128 bits) {
    return bits.low ? Bits128{bits.low & (bits.low - 1), bits.high}
                    : Bits128{0, bits.high & (bits.high - 1)};
  }

  static constexpr std::uint64_t reversed(std::uint64_t bits) {
    constexpr std::uint64_t k1 = 0x5555555555555555, k2 = 0x3333333333333333;
    constexpr std::uint64_t k4 = 0x0f0f0f0f0f0f0f0f, k8 = 0x00ff00ff00ff00ff;
    constexpr std::uint64_t k16 = 0x0000ffff0000ffff;
    bits = (bits >> 1 & k1) | (bits & k1) << 1;
    bits = (bits >> 2 & k2) | (bits & k2) << 2;
    bits = (bits >> 4 & k4) | (bits & k4) << 4;
    bits = (bits >> 8 & k8) | (bits & k8) << 8;
    bits = (bits >> 16 & k16) | (bits & k16) << 16;
    return bits >> 32 | bits << 32;
  }
  static constexpr Bits128 reversed(Bits128 bits) {
    return {reversed(bits.high), reversed(bits.low)};
  }
};

// So many files to the right and ranks forward, as the mover sees the board.
struct Vector {
  int files, ranks;

  constexpr Vector operator-() const { return {-files, -ranks}; }
};

// Clockwise from N.
inline constexpr std::array<Vector, 8> kDirections = {
    {{0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}}};

// Calls visit.template operator()<i>() for i = 0 ... n - 1.
template <int n, class Visit>
constexpr void unrolled(Visit&& visit) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (visit.template operator()<i>(), ...);
  }(std::make_integer_sequence<int, n>());
}

// A board with pieces of some kinds, counted from 0.
template <int kNumRanks, int kNumFiles, int kNumKinds>
struct DraughtsBoard : SquareSets {
  static constexpr int kNumSquares = kNumRanks * kNumFiles;
  // Bit s = square s, as one of the players sees the board.
  using Bits = std::conditional_t<kNumSquares <= 64, std::uint64_t, Bits128>;

  static constexpr Bits bit(int square) { return Bits{1} << square; }
  static constexpr Bits kAll = ~Bits{} >> (8 * static_cast<int>(sizeof(Bits)) - kNumSquares);
  static constexpr Bits kLastRank = kAll & (kAll << (kNumSquares - kNumFiles));
  static constexpr Bits kFirstRank = kAll & ~(kAll << kNumFiles);
  static constexpr int offset(Vector v) { return v.ranks * kNumFiles + v.files; }

  // The squares as the other player sees them.
  static constexpr int turned(int square) { return kNumSquares - 1 - square; }
  static constexpr Bits turned(Bits bits) {
    return reversed(bits) >> (8 * static_cast<int>(sizeof(Bits)) - kNumSquares);
  }

  struct Side {
    std::array<Bits, kNumKinds> pieces = {};  // by kind

    constexpr Bits occupied() const {
      Bits all = pieces[0];
      for (int kind = 1; kind < kNumKinds; ++kind) all |= pieces[kind];
      return all;
    }
    constexpr int kind_on(int square) const {  // of a square where a piece stands
      int kind = 0;
      while (kind + 1 < kNumKinds && !(pieces[kind] & bit(square))) ++kind;
      return kind;
    }
  };

  // The board as one player sees it.
  struct View {
    Bits own, enemy, empty;

    constexpr View(Bits own, Bits enemy) : own(own), enemy(enemy), empty(kAll & ~(own | enemy)) {}
  };

  struct Position : Counters {
    std::array<Side, 2> sides;  // by player, each as that player sees it
    std::int32_t pending = -1;  // in mid-turn, the square of the jumping piece as the mover sees it

    bool is_turn_open() const { return pending >= 0; }
    const Side& own() const { return sides[to_move()]; }
    const Side& enemy() const { return sides[1 - to_move()]; }
    View view() const { return view(to_move()); }
    View view(int player) const {
      return {sides[player].occupied(), turned(sides[1 - player].occupied())};
    }

    // Moves the mover's piece and removes the captured one, if any.
    void move(int kind, int origin, int target, Bits captured) {
      sides[to_move()].pieces[kind] ^= bit(origin) | bit(target);
      ++quiet;
      if (!captured) return;
      quiet = 0;
      const Bits left = ~bit(turned(first(captured)));
      for (Bits& pieces : sides[1 - to_move()].pieces) pieces &= left;
    }
    void promote(int from_kind, int to_kind, int square) {
      sides[to_move()].pieces[from_kind] ^= bit(square);
      sides[to_move()].pieces[to_kind] ^= bit(square);
    }
    void end_turn() {
      pending = -1;
      ++turns;
    }
    void pass() {
      ++quiet;
      end_turn();
    }
  };

  // All squares moved by a vector; those that leave the board vanish.
  template <Vector v>
  static constexpr Bits shift(Bits bits) {
    constexpr Bits kStaying = [] {
      Bits staying = {};
      for (int square = 0; square < kNumSquares; ++square) {
        if (target(square, v) >= 0) staying |= bit(square);
      }
      return staying;
    }();
    return moved(bits & kStaying, offset(v));
  }

  // The squares, and the empty ones that follow them in the direction of the vector without a gap.
  // Three doublings reach eight squares far (the Kogge-Stone fill of chess programs).
  template <Vector v>
  static constexpr Bits filled(Bits bits, Bits empty) {
    static_assert(kNumRanks <= 8 && kNumFiles <= 8);
    empty &= shift<v>(kAll);  // where a step can come from the other border no more
    for (int n = offset(v); n != 8 * offset(v); n *= 2) {
      bits |= empty & moved(bits, n);
      empty &= moved(empty, n);
    }
    return bits;
  }

  // The ranks of the squares, counted from 0 as their owner sees them.
  static constexpr int sum_of_ranks(Bits bits) {
    int sum = 0;
    for (int rank = 1; rank < kNumRanks; ++rank) sum += count(bits = bits >> kNumFiles);
    return sum;
  }

  // The square so many times the vector away, or -1 off the board.
  static constexpr int target(int square, Vector v, int times = 1) {
    const int file = square % kNumFiles + times * v.files;
    const int rank = square / kNumFiles + times * v.ranks;
    const bool is_on_board = 0 <= file && file < kNumFiles && 0 <= rank && rank < kNumRanks;
    return is_on_board ? rank * kNumFiles + file : -1;
  }

  // The enemy piece between two squares on a line, if any.
  static constexpr Bits captured(const Position& position, int square, Vector v, int distance) {
    const Bits enemy = position.enemy().occupied();
    for (int i = 1; i < distance; ++i) {
      const int passed = square + i * offset(v);
      if (enemy & bit(turned(passed))) return bit(passed);
    }
    return {};
  }

  // Which of the pieces may step by a vector, or jump by two of it over an enemy piece.
  template <Vector v>
  static constexpr Bits steppers(Bits pieces, const View& view) {
    return pieces & shift<-v>(view.empty);
  }
  template <Vector v>
  static constexpr Bits jumpers(Bits pieces, const View& view) {
    return pieces & shift<-v>(view.enemy & shift<-v>(view.empty));
  }

  // Calls visit(distance, where pieces can land by a step so far) in ascending order of distances,
  // for pieces that step one square and pieces that step any number of empty ones.
  template <Vector v, class Visit>
  static constexpr void steps(Bits shorts, Bits longs, const View& view, Visit&& visit) {
    Bits front = shift<v>(shorts | longs) & view.empty;
    if (front) visit(1, front);
    if (!longs) return;
    front &= shift<v>(longs);
    for (int distance = 2; front; ++distance) {
      front = shift<v>(front) & view.empty;
      if (front) visit(distance, front);
    }
  }

  // Calls visit(distance, where pieces can land by a jump so far) likewise. Pieces of long range may
  // have empty squares before the enemy piece and land anywhere behind it, up to the next piece.
  template <Vector v, class Visit>
  static constexpr void jumps(Bits shorts, Bits longs, const View& view, Visit&& visit) {
    const Bits short_landings = shift<v>(shift<v>(shorts) & view.enemy) & view.empty;
    if (!longs) {
      if (short_landings) visit(2, short_landings);
      return;
    }
    Bits before = longs, over = {}, behind = {};
    for (int distance = 1; distance <= 2 || before | over | behind; ++distance) {
      if (over | behind) behind = shift<v>(over | behind) & view.empty;
      const Bits landings = distance == 2 ? behind | short_landings : behind;
      if (landings) visit(distance, landings);
      const Bits next = shift<v>(before);
      over = next & view.enemy;
      before = next & view.empty;
    }
  }

  // Whether any of them may jump at all.
  template <Vector v>
  static constexpr bool can_jump(Bits shorts, Bits longs, const View& view) {
    const Bits origins = shift<-v>(view.enemy & shift<-v>(view.empty));
    if (shorts & origins) return true;
    for (Bits front = longs; front; front = shift<v>(front) & view.empty) {
      if (front & origins) return true;
    }
    return false;
  }

  template <class Visit>
  static constexpr void for_each_square(Bits bits, Visit&& visit) {
    if constexpr (kNumSquares <= 64) {
      for (; bits; bits = without_first(bits)) visit(first(bits));
    } else {
      for (auto low = bits.low; low; low = without_first(low)) visit(first(low));
      for (auto high = bits.high; high; high = without_first(high)) visit(64 + first(high));
    }
  }

  // Adds an action for each piece, given by the squares that lie so far ahead of the pieces' own.
  static constexpr void add(ActionList& list, int plane, Bits squares, int offset = 0) {
    const int first_action = plane * kNumSquares - offset;
    for_each_square(squares, [&](int square) { list.push_back(first_action + square); });
  }

  // Writes own and enemy pieces by kind and the piece that must go on; returns the next plane.
  static int write_pieces(const Position& position, int player, Planes& planes) {
    constexpr int kPending = 2 * kNumKinds;
    for (int kind = 0; kind < kNumKinds; ++kind) {
      for_each_square(position.sides[player].pieces[kind],
                      [&](int square) { planes.mark(kind, square); });
      for_each_square(position.sides[1 - player].pieces[kind],
                      [&](int square) { planes.mark(kNumKinds + kind, turned(square)); });
    }
    if (position.is_turn_open()) {
      const bool is_own = position.to_move() == player;
      planes.mark(kPending, is_own ? position.pending : turned(position.pending));
    }
    return kPending + 1;
  }

  static std::uint64_t key(const Position& position) {
    // Mixed before anything is added: a set of squares plus 1 is another set of squares.
    std::uint64_t key = mix(2 * position.pending + position.to_move());
    for (const Side& side : position.sides) {
      for (const Bits pieces : side.pieces) {
        if constexpr (kNumSquares <= 64) {
          key = mix(key + pieces);
        } else {
          key = mix(mix(key + pieces.low) + pieces.high);
        }
      }
    }
    return key;
  }

  // Of an action that leads off the board only the text is odd.
  static std::string move_to_text(const Position& position, int square, Vector v, int times) {
    const auto name = [&](int own_square) {
      return square_name(position.to_move() ? turned(own_square) : own_square, kNumFiles);
    };
    const int landing = target(square, v, times);
    std::string text = name(square);
    return text += landing < 0 ? "--" : name(landing);
  }

  static std::string to_fen(const Position& position, std::string_view letters) {
    std::string squares(kNumSquares, '.');
    for (int player = 0; player < 2; ++player) {
      for (int kind = 0; kind < kNumKinds; ++kind) {
        for_each_square(position.sides[player].pieces[kind], [&](int square) {
          squares[player ? turned(square) : square] =
              static_cast<char>(letters[kind] + (player ? 'a' - 'A' : 0));
        });
      }
    }
    std::string pending = "-";
    if (position.is_turn_open()) {
      pending =
          square_name(position.to_move() ? turned(position.pending) : position.pending, kNumFiles);
    }
    return board_to_fen(squares, kNumRanks, kNumFiles) + " " + side_to_fen(position) + " " +
           pending + " " + counters_to_fen(position);
  }

  // Leaves to the caller how many pieces there may be and whether the pending one can jump.
  static Position from_fen(std::string_view fen, std::string_view letters) {
    const auto fields = fen_fields(fen);
    if (fields.size() != 2 && fields.size() != 5) {
      throw FenError("board", "expected 2 or 5 fields: board side [pending quiet move]");
    }
    Position position;
    static_cast<Counters&>(position) = fields.size() == 2
                                           ? counters_from_fen(fields[1], "0", "1")
                                           : counters_from_fen(fields[1], fields[3], fields[4]);
    const std::string squares = board_from_fen(fields[0], kNumRanks, kNumFiles, letters);
    for (int square = 0; square < kNumSquares; ++square) {
      const char c = squares[square];
      if (c == '.') continue;
      const bool is_first = 'A' <= c && c <= 'Z';
      const auto kind = letters.find(is_first ? c : static_cast<char>(c - 'a' + 'A'));
      position.sides[is_first ? 0 : 1].pieces[kind] |= bit(is_first ? square : turned(square));
    }
    if (!position.own().occupied() && !position.enemy().occupied()) {
      throw FenError("board", "no pieces at all");
    }
    if (fields.size() == 5 && fields[2] != "-") {
      int square = 0;
      while (square < kNumSquares && square_name(square, kNumFiles) != fields[2]) ++square;
      if (square == kNumSquares) {
        throw FenError("pending", "'" + std::string(fields[2]) + "' is neither '-' nor a square");
      }
      position.pending = position.to_move() ? turned(square) : square;
    }
    return position;
  }

  static void check_pending(const Position& position, bool can_jump) {
    if (position.is_turn_open() && !can_jump) {
      throw FenError("pending", "the square holds no piece of the mover that can jump");
    }
  }

  // Of which a player has at most `maximum`.
  static void check_count(Bits pieces, int maximum, const char* names) {
    if (count(pieces) > maximum) {
      throw FenError("board", "a player has more than " + std::to_string(maximum) + " " + names);
    }
  }

 private:
  // By an offset of either sign.
  static constexpr Bits moved(Bits bits, int offset) {
    return offset > 0 ? bits << offset : bits >> -offset;
  }
};

// Who has won, and how, when the stronger side wins and equal strength draws.
inline constexpr Outcome stronger_wins(int strength_0, int strength_1, Termination termination) {
  if (strength_0 == strength_1) return draw(termination);
  return win(strength_0 > strength_1 ? 0 : 1, termination);
}

}  // namespace deskovky
