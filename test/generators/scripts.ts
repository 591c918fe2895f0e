/** Compiled scripts for tests, by their source. */
import type { Context } from '../../src/script/language/tree.ts';
import { createScripts } from '../../src/script/script.ts';
import { family } from './network.ts';

const scripts = createScripts(family.secureHash);

export const compiled = (source: string, context: Context = 'account'): Uint8Array =>
  scripts.compile(source, context).bytes;

/** Scripts of both versions, short and long. */
export const sampleScripts: readonly Uint8Array[] = [
  'true',
  'false',
  '{-# LANGUAGE_VERSION 2 #-}\nlet side = Buy\nheight > 10',
  'sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)',
  'match tx { case t: TransferTransaction => t.amount < 1000 case _ => true }',
  `"${'x'.repeat(1000)}" != ""`,
].map((source) => compiled(source));
