/**
 * The largest, the smallest and the one-too-large of every member of a transaction in JSON. This
 * file contains no transaction types: it finds the limits by testing what the declarations accept,
 * starting from a valid transaction.
 */
import { stringify } from '../../src/base/json/json.ts';
import { base58, base64, hex } from '../../src/codec/text.ts';
import { compiledLayoutOf } from '../../src/tx/compiled-layout.ts';
import type { Tx } from '../../src/tx/transaction.ts';

export type Json = Record<string, unknown>;
export type Path = readonly (string | number)[];
export type Accepts = (json: Json) => boolean;

export interface Extremes {
  readonly path: Path;
  readonly smallest: unknown;
  readonly largest: unknown;
  /** Just beyond what is accepted. */
  readonly beyond: readonly unknown[];
}

const SIZE_MAX = 1_000_000;
const I64_END = 2n ** 63n;
/** Sizes around which limits lie: a first one that is accepted is looked for among them. */
const SIZES = [0, 1, 2, 4, 5, 16, 26, 30, 32, 64, 100, 101, 200, 1000];

/** What may differ in the JSON of the transaction: the declared members and the proofs. */
export function membersOf(tx: Tx, json: Json): Path[] {
  const { jsonNames, jsonCodecs } = compiledLayoutOf(tx.def, tx.layout);
  const names = jsonNames.flatMap((name, i) =>
    jsonCodecs[i]!.flat === true
      ? Object.keys((jsonCodecs[i]!.schema['properties'] as object | undefined) ?? {})
      : [name],
  );
  const evidence = 'proofs' in json ? 'proofs' : 'signature';
  return [...names, evidence].filter((name) => name in json).flatMap((name) => below([name], json));
}

/** The member itself and, of what has members, the ones in it; of a list those of its first item. */
function below(path: Path, json: Json): Path[] {
  const value = at(json, path);
  if (typeof value !== 'object' || value === null) return [path];
  const names = Array.isArray(value) ? (value.length > 0 ? [0] : []) : Object.keys(value);
  const own = Array.isArray(value) ? [path] : [];
  return [...own, ...names.flatMap((name) => below([...path, name], json))];
}

export function at(json: Json, path: Path): unknown {
  let value: unknown = json;
  for (const name of path) value = (value as Json)[name];
  return value;
}

/** A copy in which this member has another value; it shares the other members with the original. */
export function put(json: Json, path: Path, value: unknown): Json {
  const [name, ...rest] = path;
  if (name === undefined) return value as Json;
  const changed = { [name]: put(json[name] as Json, rest, value) };
  return Object.assign(Array.isArray(json) ? [...json] : { ...json }, changed) as Json;
}

/** Undefined where the member has no limits: a flag, a name out of a few. */
export function extremesOf(json: Json, path: Path, accepts: Accepts): Extremes | undefined {
  const value = at(json, path);
  const takes = (candidate: unknown): boolean => accepts(put(json, path, candidate));
  if (typeof value === 'number' || typeof value === 'bigint') return numbers(path, takes);
  const ranges = growersOf(value).flatMap((grow) => range(grow, takes) ?? []);
  if (ranges.length === 0) return undefined;
  const [least] = ranges.toSorted((a, b) => a.low.weight - b.low.weight);
  const most = ranges.toSorted((a, b) => a.high.weight - b.high.weight).at(-1);
  return {
    path,
    smallest: least!.low.value,
    largest: most!.high.value,
    beyond: ranges.flatMap(({ beyond }) => beyond),
  };
}

function numbers(path: Path, takes: (value: bigint) => boolean): Extremes | undefined {
  const powers = Array.from({ length: 64 }, (_, i) => 2n ** BigInt(i));
  const candidates = [0n, 1n, 2n, 3n, ...powers, ...powers.map((power) => -power)];
  const good = candidates.filter(takes).sort((a, b) => (a < b ? -1 : 1));
  let [low, high] = [good[0], good.at(-1)];
  if (low === undefined || high === undefined) return undefined;
  // Between the last power of two that is accepted and the next one.
  for (let step = I64_END; step > 0n; step /= 2n) {
    if (takes(high + step)) high += step;
    if (takes(low - step)) low -= step;
  }
  return { path, smallest: low, largest: high, beyond: [low - 1n, high + 1n] };
}

type Grow = (size: number) => unknown;

/** Ways to make a value of this kind of any size. */
function growersOf(value: unknown): Grow[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : [items(value[0])];
  if (typeof value !== 'string') return [];
  const bytes = (size: number): Uint8Array => new Uint8Array(size).fill(1);
  return [
    (size) => 'x'.repeat(size),
    (size) => '€'.repeat(size),
    (size) => base58.encode(bytes(Math.min(size, 2_000))),
    (size) => base64.encode(bytes(size)),
    (size) => hex.encode(bytes(size)),
  ];
}

/** Copies of an item; keys differ where items have keys. */
const items =
  (item: unknown): Grow =>
  (size) =>
    Array.from({ length: size }, (_, i) =>
      typeof item === 'object' && item !== null && 'key' in item ? { ...item, key: `${i}` } : item,
    );

interface End {
  readonly value: unknown;
  readonly weight: number;
}

/** The sizes that are accepted lie in one piece; undefined where none was found or no end. */
function range(grow: Grow, takes: (value: unknown) => boolean) {
  const fits = (size: number): boolean => takes(grow(size));
  const some = SIZES.find(fits);
  if (some === undefined) return undefined;
  let high = some;
  let step = 1;
  while (high + step <= SIZE_MAX && fits(high + step)) {
    high += step;
    step *= 2;
  }
  if (high + step > SIZE_MAX) return undefined;
  while (step > 1) {
    step /= 2;
    if (fits(high + step)) high += step;
  }
  let low = some;
  while (low > 0 && fits(low - 1)) low--;
  const end = (size: number): End => ({
    value: grow(size),
    weight: Buffer.byteLength(stringify(grow(size) as string)),
  });
  const under = low > 0 ? [grow(low - 1)] : [];
  return { low: end(low), high: end(high), beyond: [...under, grow(high + 1)] };
}
