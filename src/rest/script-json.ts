/** Scripts in answers: Base64 with its prefix, text form, complexity and extra fee (rest.md#errors). */
import type { ChainScheme } from '../codec/codec.ts';
import { base64 } from '../codec/text.ts';
import { type Answer, answer } from '../rest-framework/answer.ts';
import { ScriptError } from '../script/language/tree.ts';
import type { Script } from '../script/script.ts';
import type { ChainRules } from '../tx/rules/chain-rules.ts';
import { scriptsOf } from '../tx/scripts/known-scripts.ts';

export interface ScriptTerms {
  readonly scheme: ChainScheme;
  readonly rules: Pick<ChainRules, 'fees'>;
}

/** What a client needs to know of a script that the state holds. */
export function scriptJson(bytes: Uint8Array, terms: ScriptTerms) {
  const script = scriptsOf(terms.scheme).read(bytes);
  return {
    script: base64.encode(bytes),
    scriptText: script.text(),
    ...costJson(script, terms),
  };
}

export const costJson = ({ complexity }: Script, { rules }: ScriptTerms) => ({
  complexity,
  extraFee: rules.fees.scriptExtra,
});

/** Clients know the refusals of scripts without a code: `{"error": text}`. */
export function refusedAsText<T>(make: () => T): T | Answer {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof ScriptError) return answer(400, { error: cause.message });
    throw cause;
  }
}
