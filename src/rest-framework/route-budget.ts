/**
 * The budget of a route, calculated from its declaration: the schema of its body and its own costs.
 */
import type { Budget } from '../base/limits/budget.ts';
import type { JsonSchema } from '../codec/codec.ts';
import { limits } from './limits.ts';
import type { AnyRoute } from './route.ts';

export function budgetOf({ body, cost = {} }: Pick<AnyRoute, 'body' | 'cost'>): Budget {
  return {
    bytesIn: body === undefined ? 0 : limits.body.json,
    elements: body === undefined ? 0 : elementsOf(body.schema),
    rows: limits.rows,
    bytesOut: limits.answer,
    streamed: false,
    ...cost,
  };
}

/** True where requests of the route may wait for others, and are refused while too many wait. */
export const mayWait = (route: Pick<AnyRoute, 'method' | 'body' | 'cost'>): boolean =>
  route.method === 'POST' || budgetOf(route).streamed;

/** The most elements that all lists of a value have together. */
function elementsOf(schema: JsonSchema): number {
  const { items, properties, maxItems } = schema;
  if (items !== undefined) return Number(maxItems) * (1 + elementsOf(items as JsonSchema));
  if (Array.isArray(schema['anyOf'])) return Math.max(...schema['anyOf'].map(elementsOf));
  const fields = Object.values((properties ?? {}) as Record<string, JsonSchema>);
  return fields.reduce((sum, field) => sum + elementsOf(field), 0);
}
