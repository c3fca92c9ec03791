// Dobutsu shogi (Let's Catch the Lion), rules DS-1 to DS-7 of its README.
//
// 3 files x 4 ranks. Lion: one step in 8 directions; giraffe: orthogonal; elephant: diagonal;
// chick: forward, and a hen (all but diagonally backward) once it moves onto the last rank.
// Captured pieces change sides and may be dropped on any empty square. Capturing the lion wins; so
// does a lion that reaches the last rank and is not captured there.
//
//   4  9 10 11        Each player's pieces are kept as that player sees them: own rank 1 first,
//   3  6  7  8        player 1's board turned by 180 degrees. The enemy stands on square 11 - s.
//   2  3  4  5
//   1  0  1  2
//      a  b  c
//
// Action = plane * 12 + square. Planes 0-7: the piece on `square` steps N NE E SE S SW W NW;
// planes 8-10: drop G, E, C on `square`.
// Observation planes, as `player` sees it: 0-4 own L G E C H, 5-9 enemy L G E C H, 10-12 own hand
// G E C (count / 2), 13-15 enemy hand, 16 (occurrences - 1) / 2.
#pragma once

#include <bit>

#include "core/fen.hpp"
#include "core/game.hpp"

namespace deskovky {

struct Dobutsu {
  enum Ruleset { kStandard, kFairy, kDelayedTry };  // in the order of kRulesets
  static constexpr std::array<std::string_view, 3> kRulesets = {"standard", "fairy", "delayed_try"};
  static constexpr std::array<Setup, 1> kSetups = {{{"default", "gle/1c1/1C1/ELG[-] w - - 0 1"}}};
  static constexpr GameInfo kInfo = {
      .id = "dobutsu_v0",
      .num_ranks = 4,
      .num_files = 3,
      .num_action_planes = 11,
      .has_pass = false,
      .num_planes = 17,
      .max_turns = 256,
      .uses_repetition = true,
      .single_step_turns = true,
      .is_mirror_symmetric = true,
      .rulesets = kRulesets,
      .setups = kSetups,
  };

  using Bits = std::uint16_t;  // one bit a square, bit 0 = the owner's a1
  enum Piece { L, G, E, C, H };
  static constexpr std::string_view kLetters = "LGECH";
  static constexpr int kNumSquares = 12;
  static constexpr Bits kAll = 0xfff, kFileA = 0b001001001001, kFileC = 0b100100100100;
  static constexpr Bits kLastRank = 0b111 << 9;

  struct Side {
    std::array<Bits, 5> pieces = {};        // by Piece
    std::array<std::uint8_t, 4> hand = {};  // L (once captured, the game being over), G, E, C

    Bits occupied() const { return pieces[L] | pieces[G] | pieces[E] | pieces[C] | pieces[H]; }
    bool operator==(const Side&) const = default;
  };

  struct Position : Counters {
    std::array<Side, 2> sides;  // by player, each as that player sees it

    bool is_turn_open() const { return false; }
    const Side& own() const { return sides[to_move()]; }
    const Side& enemy() const { return sides[1 - to_move()]; }
  };

  GameOptions options;

  void legal_actions(const Position& position, ActionList& list) const {
    list.clear();
    const Side& own = position.own();
    const Bits free = kAll & ~own.occupied();
    for (int direction = 0; direction < 8; ++direction) {
      const Bits origins = step(movers(own, direction), direction) & free;
      add(list, direction, step(origins, opposite(direction)));
    }
    if (!(own.hand[G] | own.hand[E] | own.hand[C])) return;
    const Bits empty = free & ~turned(position.enemy().occupied());  // DS-2
    for (int piece = G; piece <= C; ++piece) {
      if (own.hand[piece]) add(list, 7 + piece, empty);
    }
  }

  void apply(Position& position, Action action) const {
    Side& own = position.sides[position.to_move()];
    Side& enemy = position.sides[1 - position.to_move()];
    const int plane = action / kNumSquares, square = action % kNumSquares;
    ++position.turns;
    ++position.quiet;
    if (plane >= 8) {
      const int piece = plane - 7;
      --own.hand[piece];
      own.pieces[piece] |= bit(square);
      position.quiet = 0;
      return;
    }
    const int target = square + kOffsets[plane];
    const Bits captured = bit(11 - target);
    for (int piece = L; piece <= H; ++piece) {
      if (enemy.pieces[piece] & captured) {
        enemy.pieces[piece] ^= captured;
        ++own.hand[piece == H ? C : piece];  // DS-1
        position.quiet = 0;
      }
      if (own.pieces[piece] & bit(square)) {
        own.pieces[piece] ^= bit(square);
        const bool promotes = piece == C && (bit(target) & kLastRank);  // DS-3
        own.pieces[promotes ? H : piece] |= bit(target);
        if (promotes) position.quiet = 0;
      }
    }
  }

  Outcome outcome(const Position& position) const {
    const int mover = position.to_move();
    const Side& own = position.own();
    const Side& enemy = position.enemy();
    if (!own.pieces[L]) return win(1 - mover, Termination::kLionCaptured);  // DS-4
    const Bits own_arrived = own.pieces[L] & kLastRank;
    const Bits enemy_arrived = enemy.pieces[L] & kLastRank;
    const Bits own_attackers = attackers(enemy, own.pieces[L]);
    if (own_arrived | enemy_arrived) {
      const bool enemy_is_safe = enemy_arrived && !attackers(own, enemy.pieces[L]);
      if (options.ruleset == kFairy) {
        const bool own_is_safe = own_arrived && !own_attackers;
        if (own_is_safe && enemy_is_safe) return draw(Termination::kMutualTry);
        if (own_is_safe) return win(mover, Termination::kTry);
        if (enemy_is_safe) return win(1 - mover, Termination::kTry);
      } else {
        // DS-5. An enemy lion on its last rank has just arrived, an own one has survived a turn:
        // no lion stands there longer.
        if (enemy_is_safe && options.ruleset == kStandard) return win(1 - mover, Termination::kTry);
        if (own_arrived) return win(mover, Termination::kTry);
      }
    }
    if (options.ruleset == kStandard && own_attackers && is_mated(own, enemy, own_attackers)) {
      return win(1 - mover, Termination::kCheckmate);
    }
    if (!has_legal_action(position)) return win(1 - mover, Termination::kNoLegalTurn);  // DS-7
    return {};
  }

  // DS-7.
  Outcome adjudicate(const Position&, const History<Position>& history) const {
    return history.occurrences() >= 3 ? draw(Termination::kRepetition) : Outcome{};
  }

  void write_observation(const Position& position, int player, int occurrences,
                         Planes& planes) const {
    const Side& own = position.sides[player];
    const Side& enemy = position.sides[1 - player];
    for (int piece = L; piece <= H; ++piece) {
      for (Bits b = own.pieces[piece]; b; b &= b - 1) planes.mark(piece, first(b));
      for (Bits b = enemy.pieces[piece]; b; b &= b - 1) planes.mark(5 + piece, 11 - first(b));
    }
    for (int piece = G; piece <= C; ++piece) {
      if (own.hand[piece]) planes.fill(9 + piece, own.hand[piece] / 2.0f);
      if (enemy.hand[piece]) planes.fill(12 + piece, enemy.hand[piece] / 2.0f);
    }
    if (occurrences > 1) planes.fill(16, (occurrences - 1) / 2.0f);
  }

  std::uint64_t key(const Position& position) const {
    const auto packed = [](const Side& side) {
      std::uint64_t bits = 0;
      for (int piece = L; piece <= H; ++piece) {
        bits |= std::uint64_t{side.pieces[piece]} << (12 * piece);
      }
      return bits;
    };
    std::uint64_t hands = position.to_move();
    for (const Side& side : position.sides) {
      for (const int count : side.hand) hands = 4 * hands + count;
    }
    return mix(packed(position.sides[0]) + mix(packed(position.sides[1]) + mix(hands)));
  }

  // For searches: no rule looks at more than the key holds, nor at the quiet count.
  std::uint64_t search_key(const Position& position) const { return key(position); }

  int num_pieces(const Position& position, int player) const {
    return std::popcount(position.sides[player].occupied());
  }

  // In hundredths of a chick.
  static constexpr auto kTerms = std::to_array<Term>({
      {"giraffe", 300},
      {"elephant", 250},
      {"chick", 100},
      {"hen", 350},
      {"giraffe in hand", 330},
      {"elephant in hand", 280},
      {"chick in hand", 120},
      {"attacked square", 10},
      {"lion's rank", 0},
      {"lion's flight", 0},
  });
  static constexpr bool kCapturesAreCompulsory = false;

  std::array<int, kTerms.size()> features(const Position& position, int player) const {
    const Side& side = position.sides[player];
    const auto count = [&](int piece) { return std::popcount(side.pieces[piece]); };
    const Bits lion = side.pieces[L];
    return {count(G),        count(E),
            count(C),        count(H),
            side.hand[G],    side.hand[E],
            side.hand[C],    std::popcount(attacked(side)),
            first(lion) / 3, std::popcount(static_cast<Bits>(around(lion) & ~side.occupied()))};
  }

  // Captures, and lions on the last rank.
  int urgency(const Position& position, Action action) const {
    const int plane = action / kNumSquares, square = action % kNumSquares;
    if (plane >= 8) return 0;
    static constexpr std::array<int, 5> kValues = {10000, 600, 500, 200, 450};
    const Bits target = bit(square + kOffsets[plane]);
    const Bits captured = bit(11 - square - kOffsets[plane]);
    const Side& enemy = position.enemy();
    if (enemy.occupied() & captured) {
      int piece = L;
      while (!(enemy.pieces[piece] & captured)) ++piece;
      return kValues[piece];
    }
    return (target & kLastRank) && (position.own().pieces[L] & bit(square)) ? 1000 : 0;
  }

  bool is_check(const Position& position) const {
    return attackers(position.enemy(), position.own().pieces[L]) != 0;
  }

  Action mirror_action(Action action) const {
    static constexpr std::array<int, 11> kMirrored = {0, 7, 6, 5, 4, 3, 2, 1, 8, 9, 10};
    const int plane = action / kNumSquares, square = action % kNumSquares;
    return kMirrored[plane] * kNumSquares + square / 3 * 3 + 2 - square % 3;
  }

  // Of an action that leads off the board, or has no piece to move, only the text is odd.
  std::string action_to_text(const Position& position, Action action) const {
    const int plane = action / kNumSquares, square = action % kNumSquares;
    const auto name = [&](int own_square) {
      return square_name(position.to_move() ? 11 - own_square : own_square, 3);
    };
    if (plane >= 8) return std::string(1, kLetters[plane - 7]) + "@" + name(square);
    const Bits target = step(bit(square), plane);
    if (!target) return name(square) + "--";
    const bool promotes = (position.own().pieces[C] & bit(square)) && (target & kLastRank);
    return name(square) + name(first(target)) + (promotes ? "+" : "");
  }

  std::string to_fen(const Position& position) const {
    std::string squares(kNumSquares, '.'), hands;
    for (int player = 0; player < 2; ++player) {
      const auto letter = [&](int piece) {
        return static_cast<char>(kLetters[piece] + (player ? 'a' - 'A' : 0));
      };
      const Side& side = position.sides[player];
      for (int piece = L; piece <= H; ++piece) {
        for (Bits b = side.pieces[piece]; b; b &= b - 1) {
          squares[player ? 11 - first(b) : first(b)] = letter(piece);
        }
      }
      for (const int piece : {L, G, C, E}) hands.append(side.hand[piece], letter(piece));
    }
    return board_to_fen(squares, 4, 3) + "[" + (hands.empty() ? "-" : hands) + "] " +
           side_to_fen(position) + " - - " + counters_to_fen(position);
  }

  Position from_fen(std::string_view fen) const {
    const auto fields = fen_fields(fen);
    if (fields.size() != 2 && fields.size() != 4 && fields.size() != 6) {
      throw FenError("board", "expected 2, 4 or 6 fields: board[hand] side [- -] [quiet move]");
    }
    if (fields.size() == 6 && (fields[2] != "-" || fields[3] != "-")) {
      throw FenError("dashes", "the third and fourth of six fields are '-'");
    }
    Position position;
    static_cast<Counters&>(position) =
        fields.size() == 2 ? counters_from_fen(fields[1], "0", "1")
                           : counters_from_fen(fields[1], fields.end()[-2], fields.end()[-1]);
    const auto bracket = fields[0].find('[');
    if (bracket == std::string_view::npos || fields[0].back() != ']') {
      throw FenError("hand", "the pieces in hand stand in brackets behind the board");
    }
    read_board(position, fields[0].substr(0, bracket));
    read_hands(position, fields[0].substr(bracket + 1, fields[0].size() - bracket - 2));
    check_counts(position);
    return position;
  }

  // The geometry of the board, for the solver as well.
  static constexpr std::array<int, 8> kOffsets = {3, 4, 1, -2, -3, -4, -1, 2};

  static constexpr Bits bit(int square) { return static_cast<Bits>(1 << square); }
  static constexpr int first(Bits bits) { return std::countr_zero(bits); }
  static constexpr int opposite(int direction) { return (direction + 4) % 8; }

  // All squares one step further; steps off the board vanish. Direction as in the action planes.
  static constexpr Bits step(Bits bits, int direction) {
    if (1 <= direction && direction <= 3) bits &= ~kFileC;
    if (5 <= direction) bits &= ~kFileA;
    const int offset = kOffsets[direction];
    return kAll & (offset > 0 ? bits << offset : bits >> -offset);
  }

  // The pieces that may step in a direction.
  static constexpr Bits movers(const Side& side, int direction) {
    const auto& p = side.pieces;
    switch (direction) {
      case 0: return p[L] | p[G] | p[C] | p[H];
      case 1:
      case 7: return p[L] | p[E] | p[H];
      case 3:
      case 5: return p[L] | p[E];
      default: return p[L] | p[G] | p[H];
    }
  }

  // The squares as the other player sees them.
  static constexpr Bits turned(Bits bits) {
    Bits result = 0;
    for (; bits; bits &= bits - 1) result |= bit(11 - first(bits));
    return result;
  }

  // The pieces of `side` that attack the enemy piece on `target` (one bit, as the enemy sees it).
  static constexpr Bits attackers(const Side& side, Bits target) {
    const Bits square = bit(11 - first(target));
    Bits result = 0;
    for (int direction = 0; direction < 8; ++direction) {
      result |= step(square, opposite(direction)) & movers(side, direction);
    }
    return result;
  }

 private:
  static constexpr Bits attacked(const Side& side) {
    Bits result = 0;
    for (int direction = 0; direction < 8; ++direction) {
      result |= step(movers(side, direction), direction);
    }
    return result;
  }

  // DS-6, the own lion being attacked by `own_attackers`. All pieces step one square, so a drop
  // never helps and nothing is pinned: the lion flees, or the only attacker is captured.
  static constexpr bool is_mated(const Side& own, const Side& enemy, Bits own_attackers) {
    if (attackers(own, enemy.pieces[L])) return false;
    const Bits lion = own.pieces[L];
    Bits flights = 0;
    for (int direction = 0; direction < 8; ++direction) flights |= step(lion, direction);
    if (flights & ~own.occupied() & ~turned(attacked(enemy))) return false;
    const bool is_single = !(own_attackers & (own_attackers - 1));
    return !(is_single && (attackers(own, own_attackers) & ~lion));
  }

  static bool has_legal_action(const Position& position) {
    const Side& own = position.own();
    const Bits free = kAll & ~own.occupied();
    for (int direction = 0; direction < 8; ++direction) {
      if (step(movers(own, direction), direction) & free) return true;
    }
    return (own.hand[G] | own.hand[E] | own.hand[C]) &&
           (free & ~turned(position.enemy().occupied()));
  }

  // The squares next to these.
  static constexpr Bits around(Bits bits) {
    Bits result = 0;
    for (int direction = 0; direction < 8; ++direction) result |= step(bits, direction);
    return result;
  }

  static void add(ActionList& list, int plane, Bits squares) {
    for (; squares; squares &= squares - 1) list.push_back(plane * kNumSquares + first(squares));
  }

  static void read_board(Position& position, std::string_view text) {
    std::string board;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '+') {
        board += text[i];
      } else if (i + 1 < text.size() && (text[i + 1] == 'C' || text[i + 1] == 'c')) {
        board += text[++i] == 'C' ? 'H' : 'h';
      } else {
        throw FenError("board", "'+' stands only before a chick");
      }
    }
    const std::string squares = board_from_fen(board, 4, 3, kLetters);
    for (int square = 0; square < kNumSquares; ++square) {
      if (squares[square] == '.') continue;
      const int player = squares[square] >= 'a';
      const int piece = static_cast<int>(kLetters.find(squares[square] - (player ? 'a' - 'A' : 0)));
      position.sides[player].pieces[piece] |= bit(player ? 11 - square : square);
    }
  }

  static void read_hands(Position& position, std::string_view text) {
    if (text == "-") return;
    for (const char c : text) {
      const int player = c >= 'a';
      const auto piece = kLetters.find(static_cast<char>(c - (player ? 'a' - 'A' : 0)));
      if (piece != G && piece != E && piece != C) {
        throw FenError("hand", std::string("a hand does not hold '") + c + "'");
      }
      if (++position.sides[player].hand[piece] > 2) {
        throw FenError("hand", std::string("more than two '") + c + "'");
      }
    }
  }

  static void check_counts(const Position& position) {
    const auto& [first_side, second_side] = position.sides;
    const auto count = [&](int piece) {
      return std::popcount(first_side.pieces[piece]) + std::popcount(second_side.pieces[piece]);
    };
    const auto in_hand = [&](int piece) {
      return first_side.hand[piece] + second_side.hand[piece];
    };
    for (const Side& side : position.sides) {
      if (std::popcount(side.pieces[L]) != 1) {
        throw FenError("board", "each player has exactly one lion");
      }
    }
    if (count(G) + in_hand(G) > 2) throw FenError("board", "more than two giraffes");
    if (count(E) + in_hand(E) > 2) throw FenError("board", "more than two elephants");
    if (count(C) + count(H) + in_hand(C) > 2) throw FenError("board", "more than two chicks");
  }
};

static_assert(Game<Dobutsu>);

}  // namespace deskovky
