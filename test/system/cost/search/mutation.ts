/** Small changes of recipes. The same random numbers make the same changes. */
import type { Rng } from '../../../generators/random.ts';
import { HOLE, type Layer, REPEATED, type Recipe, repeated } from './recipe.ts';

/** The words of an input language, from which changes are made. */
export interface Vocabulary {
  /** Complete parts of a text, of the sort that may stand for each other. */
  readonly parts: readonly string[];
  /** The same with a `…` each. */
  readonly layers: readonly string[];
}

const TIMES_MAX = 100_000;
const REPEATED_MAX = 1000;
const LAYERS_MAX = 8;
const TEMPLATE_LENGTH_MAX = 600;
const FIRST_TIMES = [1, 2, 4, 16, 64, 1000];

/** One to three changes. */
export function mutated(recipe: Recipe, other: Recipe, words: Vocabulary, rng: Rng): Recipe {
  let made = recipe;
  for (let left = rng.between(1, 3); left > 0; left--) made = changed(made, other, words, rng);
  return made;
}

function changed(recipe: Recipe, other: Recipe, words: Vocabulary, rng: Rng): Recipe {
  const { layers, core } = recipe;
  const at = layers.length === 0 ? undefined : rng.below(layers.length);
  switch (rng.below(11)) {
    case 0:
    case 1:
    case 2:
      return at === undefined ? recipe : repeated(recipe, at, otherTimes(layers[at]![1], rng));
    case 3:
      if (layers.length >= LAYERS_MAX) return recipe;
      return {
        layers: layers.toSpliced(rng.below(layers.length + 1), 0, newLayer(words, rng)),
        core,
      };
    case 4:
      return at === undefined ? recipe : { layers: layers.toSpliced(at, 1), core };
    case 5: {
      const taken = other.layers[rng.below(Math.max(1, other.layers.length))];
      if (taken === undefined || layers.length >= LAYERS_MAX) return recipe;
      return { layers: layers.toSpliced(rng.below(layers.length + 1), 0, taken), core };
    }
    case 6:
      return { layers, core: rng.chance(2) ? other.core : rng.pick(words.parts) };
    case 7:
      return { layers, core: replaced(core, words, rng) };
    case 8:
      return { layers: exchanged(layers, rng), core };
    default: {
      if (at === undefined) return { layers, core: replaced(core, words, rng) };
      const [around, times] = layers[at]!;
      const change = rng.chance(2) && around.includes('»') ? recounted : replaced;
      return { layers: layers.with(at, [change(around, words, rng), times]), core };
    }
  }
}

const newLayer = ({ layers }: Vocabulary, rng: Rng): Layer => [
  rng.pick(layers),
  rng.pick(FIRST_TIMES),
];

/** Two of them in the place of each other. */
function exchanged(layers: readonly Layer[], rng: Rng): readonly Layer[] {
  if (layers.length < 2) return layers;
  const [a, b] = [rng.below(layers.length), rng.below(layers.length)];
  return layers.with(a, layers[b]!).with(b, layers[a]!);
}

function otherTimes(times: number, rng: Rng): number {
  const candidates = [times + 1, times - 1, times * 2, times >> 1, rng.pick(FIRST_TIMES)];
  candidates.push(rng.between(1, 2 * times), times + rng.below(8), TIMES_MAX);
  return Math.min(TIMES_MAX, Math.max(1, rng.pick(candidates)));
}

/** With another count of the texts that it repeats; the hole is never among them. */
const recounted = (template: string, _words: Vocabulary, rng: Rng): string =>
  template.replace(REPEATED, (_all, text: string, times) => {
    const count = Math.min(REPEATED_MAX, otherTimes(Number(times), rng));
    return `«${text}*${count}»`;
  });

/** With another part in the place of one of its own; a `…` stays where it was. */
function replaced(template: string, { parts }: Vocabulary, rng: Rng): string {
  const places = spans(template).filter(([from, to]) => !template.slice(from, to).includes(HOLE));
  if (places.length === 0) return template;
  const [from, to] = rng.pick(places);
  const [otherFrom, otherTo] = rng.pick(places);
  const part = rng.chance(3) ? template.slice(otherFrom, otherTo) : rng.pick(parts);
  const made = template.slice(0, from) + part + template.slice(to);
  return made.length > TEMPLATE_LENGTH_MAX ? template : made;
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '«': '»' };
const WORD = /[\w$.#*\\]+/y;

/** Words, texts in quotes, brackets with what is in them, and single signs. */
export function spans(text: string): (readonly [from: number, to: number])[] {
  const found: (readonly [number, number])[] = [];
  const open: (readonly [from: number, closing: string])[] = [];
  for (let at = 0; at < text.length; ) {
    const from = at;
    const sign = text[at]!;
    WORD.lastIndex = at;
    if (CLOSING[sign] !== undefined) {
      open.push([at++, CLOSING[sign]]);
      continue;
    }
    if (sign === open.at(-1)?.[1]) {
      at++;
      found.push([open.pop()![0], at]);
      continue;
    }
    if (sign === '"' || sign === "'") {
      const end = text.indexOf(sign, at + 1);
      at = end === -1 ? at + 1 : end + 1;
    } else if (WORD.test(text)) at = WORD.lastIndex;
    else at++;
    if (sign !== ' ' && sign !== '\n') found.push([from, at]);
  }
  return found;
}
