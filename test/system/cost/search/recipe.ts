/**
 * A text told by what is repeated around what, so that a search can change it and a reader can
 * understand it. Scripts, sources, patterns and JSON are all written so.
 *
 * `…` is the place of the next layer, or of the core. `$i` is the number of repetitions around this
 * one, and `$p` that number less one: the repetition just outside. `«text*9»` is a text nine times.
 */
export interface Recipe {
  /** The outermost first. */
  readonly layers: readonly Layer[];
  readonly core: string;
}

export type Layer = readonly [around: string, times: number];

export const HOLE = '…';

export function textOf({ layers, core }: Recipe): string {
  const opened: string[] = [];
  const closed: string[] = [];
  let i = 0;
  for (const [around, times] of layers) {
    const [before, after] = written(around).split(HOLE) as [string, string];
    for (let n = 0; n < times; n++, i++) {
      opened.push(numbered(before, i));
      closed.push(numbered(after, i));
    }
  }
  return opened.join('') + numbered(written(core), i) + closed.reverse().join('');
}

export const REPEATED = /«([^«»]*)\*(\d{1,5})»/g;

const written = (template: string): string =>
  template.includes('»')
    ? template.replace(REPEATED, (_all, text: string, times) => text.repeat(Number(times)))
    : template;

const numbered = (text: string, i: number): string =>
  text.includes('$') ? text.replaceAll('$i', String(i)).replaceAll('$p', String(i - 1)) : text;

/** What texts may be: their characters, and whatever else limits their size. */
export interface Bounds {
  readonly lengthMax: number;
  readonly fits?: (text: string) => boolean;
}

/**
 * The recipe itself, or with as few repetitions of its largest layers as it takes to fit. Undefined
 * where it cannot fit.
 */
export function fitted(recipe: Recipe, { lengthMax, fits }: Bounds): Recipe | undefined {
  const isFit = (one: Recipe): boolean => {
    const text = textOf(one);
    return text.length <= lengthMax && (fits === undefined || fits(text));
  };
  let found: Recipe = {
    layers: recipe.layers.map(([around, times]): Layer => {
      const most = Math.floor(lengthMax / Math.max(1, around.length - HOLE.length));
      return [around, Math.max(1, Math.min(times, most))];
    }),
    core: recipe.core,
  };
  for (let tries = 0; tries <= recipe.layers.length; tries++) {
    if (isFit(found)) return found;
    const sizes = found.layers.map(([around, times]) => around.length * times);
    const largest = sizes.indexOf(Math.max(...sizes));
    if (largest === -1) return undefined;
    found = fewer(found, largest, isFit);
  }
  return undefined;
}

/** With the most repetitions of this layer that fit, at least one. */
function fewer(recipe: Recipe, at: number, isFit: (recipe: Recipe) => boolean): Recipe {
  let [low, high] = [1, recipe.layers[at]![1]];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isFit(repeated(recipe, at, middle))) low = middle;
    else high = middle;
  }
  return repeated(recipe, at, low);
}

/** With another number of repetitions of this layer. */
export const repeated = ({ layers, core }: Recipe, at: number, times: number): Recipe => ({
  layers: layers.map((layer, i): Layer => (i === at ? [layer[0], times] : layer)),
  core,
});

/** As it stands in a file. */
export const recipeText = ({ layers, core }: Recipe): string =>
  JSON.stringify({ layers, core }).replaceAll('],[', '], [');
