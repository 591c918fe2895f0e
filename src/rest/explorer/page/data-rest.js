/** The data service that serves this page. */
import { parse } from './json.js';
import { Refused } from './rest.js';

const ROOT = new URL('../', import.meta.url);

/** Wrong parameters, by the name of the parameter. */
export class WrongParameters extends Refused {
  constructor(problems) {
    super(400, 'Some of the fields are wrong.');
    this.problems = problems;
  }
}

/** `next` is the index of the next page, `total` the highest index; both may be missing. */
export async function ask(where, query, signal) {
  const search = query === undefined ? '' : `?${query}`;
  let response;
  try {
    response = await fetch(new URL(where + search, ROOT), { signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refused(0, 'The data service does not answer.');
  }
  const value = parse(await response.text());
  if (response.ok) {
    const next = response.headers.get('x-next-index') ?? undefined;
    return { value, next, height: response.headers.get('x-height') ?? undefined };
  }
  if (value?.validationErrors) throw new WrongParameters(value.validationErrors);
  throw new Refused(response.status, value?.message ?? value?.details ?? 'The request failed.');
}
