/** The dearest bodies of requests, and patterns of keys against the state of a contract. */

import { base58 } from '../../../src/base/base58.ts';
import { limits } from '../../../src/rest-framework/limits.ts';
import { API_KEY } from '../e2e/network-folder.ts';
import { type Attack, answerTo, tally } from './attack.ts';
import type { ContractNode } from './contract-node.ts';
import { dearBodies, type FoundBody } from './found/bodies.ts';
import { dearPatterns } from './found/patterns.ts';
import { fitted, textOf } from './search/recipe.ts';
import { PRIVACY_KEY, type Target } from './target.ts';

const ENVELOPE = base58.encode(new Uint8Array(48).fill(9));

const filled = (text: string, { owner, publicKey }: Target): string =>
  text.replaceAll('OWNER', owner).replaceAll('KEY', publicKey).replaceAll('ENVELOPE', ENVELOPE);

/** What becomes of the words is longer than they are. */
function bodyOf({ recipe }: FoundBody, target: Target): string {
  const most = limits.body.json;
  const made = fitted(recipe, {
    lengthMax: most,
    fits: (text) => filled(text, target).length <= most,
  });
  return filled(textOf(made!), target);
}

const bodyRow = (of: FoundBody, atOnce: number): Attack => ({
  name: `\`${of.method} ${of.path.replace('OWNER', '{address}')}\` ${of.name}`,
  async send(target) {
    const text = bodyOf(of, target);
    await target.seen();
    const isPlain = of.path.startsWith('/utils/');
    const key = of.path.startsWith('/privacy/') ? PRIVACY_KEY : API_KEY;
    const headers = {
      'content-type': isPlain ? 'text/plain' : 'application/json',
      'x-api-key': key,
    };
    const url = target.rest.url + filled(of.path, target);
    const send = () => answerTo(url, { method: of.method, headers, body: text });
    return tally(await Promise.all(Array.from({ length: atOnce }, send)));
  },
});

export const bodyRows = (isFull: boolean): Attack[] =>
  dearBodies.map((of) => bodyRow(of, isFull ? 8 : 1));

/** `matches=` against thousands of keys of one contract. */
export const patternRows = (contracts: ContractNode['contracts'], isFull: boolean): Attack[] =>
  dearPatterns.map(({ name, recipe, sign }) => ({
    name: `\`GET /contracts/{contractId}\` ${name}`,
    async send({ rest }) {
      const path = `/contracts/${contracts[sign]}?matches=${encodeURIComponent(textOf(recipe))}`;
      const send = () => answerTo(rest.url + path, {});
      return tally(await Promise.all(Array.from({ length: isFull ? 4 : 1 }, send)));
    },
  }));
