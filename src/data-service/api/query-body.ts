/** The parameters of a query in the JSON body of a POST, checked as those of a GET are. */

import { apiError } from '../../base/errors.ts';
import { isObject, parse } from '../../base/json/json.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Params, ParamValues } from '../../rest-framework/params.ts';
import type { Body, Problems } from '../../rest-framework/route.ts';
import { type Found, readStrictly } from '../../rest-framework/strict-query.ts';

const VALUES_MAX = 1000;

export function queryBody<const Q extends Params>(
  params: Q,
  check: (query: ParamValues<Q>) => Problems,
): Body<ParamValues<Q>> {
  const properties = Object.fromEntries(
    Object.entries(params).map(([name, { doc, schema }]) => [
      name,
      { ...schema, description: doc },
    ]),
  );
  return {
    type: 'application/json',
    schema: { type: 'object', properties, additionalProperties: false },
    parse(bytes) {
      const given = readJson(bytes);
      const problems: Found = new Map();
      const texts = Object.entries(given).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map((one) => {
          if (!isPlain(one)) problems.set(name, 'must be a text, a number, or a list of these');
          return [name, isPlain(one) ? String(one) : ''] as const;
        }),
      );
      // No parameter of these queries depends on the chain.
      const scheme = undefined as unknown as ChainScheme;
      return readStrictly({ params, check }, texts, scheme, problems) as ParamValues<Q>;
    },
  };
}

/** What a parameter of a GET can say. */
const isPlain = (value: unknown): boolean =>
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value);

function readJson(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value = parse(new TextDecoder().decode(bytes), VALUES_MAX);
    if (isObject(value)) return value;
  } catch {
    // The refusal is the same as that of another value.
  }
  throw apiError('MalformedJson');
}
