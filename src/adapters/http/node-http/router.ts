/** Finds the handler of a path as the native app does: a fixed segment goes before a parameter. */

export interface Found<T> {
  readonly value: T;
  /** The segments at the parameters of the pattern. */
  readonly params: readonly string[];
}

interface Branch<T> {
  readonly fixed: Map<string, Branch<T>>;
  /** Any segment that is not empty. */
  param: Branch<T> | undefined;
  value: T | undefined;
}

const branch = <T>(): Branch<T> => ({ fixed: new Map(), param: undefined, value: undefined });

export class Router<T> {
  private readonly root: Branch<T> = branch();

  /** A parameter is a segment that begins with a colon. */
  add(pattern: string, value: T): void {
    let at = this.root;
    for (const segment of segmentsOf(pattern)) {
      if (segment.startsWith(':')) {
        at.param ??= branch();
        at = at.param;
      } else {
        const next = at.fixed.get(segment) ?? branch();
        at.fixed.set(segment, next);
        at = next;
      }
    }
    at.value = value;
  }

  find(path: string): Found<T> | undefined {
    const params: string[] = [];
    const value = search(this.root, segmentsOf(path), 0, params);
    return value === undefined ? undefined : { value, params };
  }
}

const segmentsOf = (path: string): string[] => path.slice(1).split('/');

/** Leaves in `params` those of the value that it returns. */
function search<T>(
  at: Branch<T>,
  segments: readonly string[],
  index: number,
  params: string[],
): T | undefined {
  const segment = segments[index];
  if (segment === undefined) return at.value;
  const fixed = at.fixed.get(segment);
  const found = fixed && search(fixed, segments, index + 1, params);
  if (found !== undefined || at.param === undefined || segment === '') return found;
  params.push(segment);
  const other = search(at.param, segments, index + 1, params);
  if (other === undefined) params.pop();
  return other;
}
