/**
 * The variables of a refused run, as an answer shows them. A script decides how many they are and
 * what they hold, so text and work are bounded: what comes after the limit is counted only.
 */
import type { Evaluated } from '../evaluation/program.ts';
import { EvaluationFailure } from '../language/values.ts';
import { VALUE_LENGTH_MAX, valueText } from './tree-text.ts';

/** Characters of all values together, with one value more. */
const TEXT_LENGTH_MAX = 65_536;

export type ShownVariable =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly error: string };

export function shownVariables(variables: readonly Evaluated[]): readonly ShownVariable[] {
  const shown: ShownVariable[] = [];
  let length = 0;
  for (const { name, value } of variables) {
    if (length > TEXT_LENGTH_MAX) {
      shown.push({ name: '…', value: `${variables.length - shown.length} more variables` });
      break;
    }
    const failed = value instanceof EvaluationFailure;
    const text = failed
      ? value.message.slice(0, VALUE_LENGTH_MAX).toWellFormed()
      : valueText(value);
    length += text.length;
    shown.push(failed ? { name, error: text } : { name, value: text });
  }
  return shown;
}
