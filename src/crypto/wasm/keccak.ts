/**
 * The sponge of Keccak-256 in WebAssembly: the permutation Keccak-f[1600], and taking in of blocks.
 *
 * The state stays in the memory. A round reads it at one place and writes it at another, so that an
 * even number of rounds ends where it began. The processor has too few registers for 25 words, and
 * an engine that is told to keep them in variables is slower. No address depends on the data.
 */
import { type Assembler, type Code, doWhile, get, i32, i64, set } from './assembler.ts';

export const RATE_BYTES = 136;
export const STATE_BYTES = 200;
const ROUNDS = 24;
export const CONSTANTS_BYTES = 8 * ROUNDS;

const WORD_BYTES = 8;
const COORDINATES = [0, 1, 2, 3, 4] as const;
/** x⁸ + x⁶ + x⁵ + x⁴ + 1, the feedback of the register that makes the constants. */
const FEEDBACK = 0x171;

/** The word in column x and row y. */
const indexOf = (x: number, y: number): number => (x % 5) + 5 * (y % 5);

/** What the rounds add to the first word. A constant has bits at places 2^j − 1 only. */
export function roundConstants(): BigUint64Array {
  const constants = new BigUint64Array(ROUNDS);
  let register = 1;
  for (let round = 0; round < ROUNDS; round++) {
    for (let j = 0; j < 7; j++) {
      if (register & 1) constants[round]! |= 1n << BigInt(2 ** j - 1);
      register <<= 1;
      if (register & 0x100) register ^= FEEDBACK;
    }
  }
  return constants;
}

/** Where a word of a state comes from, and by how many bits it is rotated: steps ρ and π. */
interface Move {
  readonly from: number;
  readonly bits: number;
}

/** By index of the target. The first word stays where it is. */
function moves(): readonly Move[] {
  const found: Move[] = [{ from: 0, bits: 0 }];
  let [x, y] = [1, 0];
  for (let step = 0; step < ROUNDS; step++) {
    const next = (2 * x + 3 * y) % 5;
    found[indexOf(y, next)] = { from: indexOf(x, y), bits: (((step + 1) * (step + 2)) / 2) % 64 };
    [x, y] = [y, next];
  }
  return found;
}

export interface KeccakPlaces {
  readonly state: number;
  /** Another state, for every second round. */
  readonly other: number;
  readonly constants: number;
}

export function defineKeccak(module: Assembler, { state, other, constants }: KeccakPlaces): void {
  const moved = moves();

  // (data, blocks): the state takes in whole blocks, at least one.
  module.define('absorb', 2, (scope) => {
    const columns = scope.locals('i64', 5);
    const parities = scope.locals('i64', 5);
    const row = scope.locals('i64', 5);
    const constant = scope.local('i32');
    const word = (base: number, index: number): Code =>
      i64.load(i32.const(0), base + WORD_BYTES * index);
    const put = (base: number, index: number, value: Code): Code =>
      i64.store(i32.const(0), base + WORD_BYTES * index, value);

    /** `offset` is that of the round's constant from the present one. */
    const round = (from: number, to: number, offset: number): Code => [
      ...COORDINATES.map((x) =>
        set(columns[x]!, xor(...COORDINATES.map((y) => word(from, indexOf(x, y))))),
      ),
      ...COORDINATES.map((x) =>
        set(
          parities[x]!,
          xor(get(columns[(x + 4) % 5]!), i64.rotateLeft(get(columns[(x + 1) % 5]!), 1)),
        ),
      ),
      ...COORDINATES.flatMap((y) => [
        ...COORDINATES.map((x) => {
          const { from: source, bits } = moved[indexOf(x, y)]!;
          const mixed = xor(get(parities[source % 5]!), word(from, source));
          return set(row[x]!, i64.rotateLeft(mixed, bits));
        }),
        ...COORDINATES.map((x) => {
          const [a, b, c] = [0, 1, 2].map((ahead) => get(row[(x + ahead) % 5]!)) as Three;
          const value = xor(a, i64.and(i64.not(b), c));
          const isFirst = x === 0 && y === 0;
          return put(
            to,
            indexOf(x, y),
            isFirst ? xor(value, i64.load(get(constant), offset)) : value,
          );
        }),
      ]),
    ];

    const rateWords = Array.from({ length: RATE_BYTES / WORD_BYTES }, (_, i) => i);
    const twoRounds = [
      round(state, other, 0),
      round(other, state, WORD_BYTES),
      set(constant, i32.add(get(constant), i32.const(2 * WORD_BYTES))),
    ];
    const block = [
      ...rateWords.map((i) => put(state, i, xor(word(state, i), i64.load(get(0), WORD_BYTES * i)))),
      set(constant, i32.const(constants)),
      doWhile(twoRounds, i32.lessUnsigned(get(constant), i32.const(constants + CONSTANTS_BYTES))),
      set(0, i32.add(get(0), i32.const(RATE_BYTES))),
      set(1, i32.sub(get(1), i32.const(1))),
    ];
    return doWhile(block, get(1));
  });
}

type Three = [Code, Code, Code];

const xor = (...all: readonly Code[]): Code => all.reduce((a, b) => i64.xor(a, b));
