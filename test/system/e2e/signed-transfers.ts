/**
 * Transfers that the test signs by itself. A client library in JavaScript takes twenty milliseconds for a
 * signature, as long as four nodes for the rest.
 */
import { systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { nthTransfer } from '../../../src/cli/load/transfers.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { family } from '../../family.ts';

const FEE = 1_000_000n;

/** The next transfer of an account to this address; no two are the same. */
export function transfersOf(
  seed: string,
  chainId: string,
  to: string,
): () => { readonly id: string; readonly json: JsonObject } {
  const scheme = createChainScheme(family, chainId.charCodeAt(0));
  const { publicKey, privateKey } = family.keyPairFromPhrase(seed);
  const sign = (message: Uint8Array) => family.sign(privateKey, message, systemRandom);
  const sender = { publicKey, address: scheme.addressOf(publicKey), sign };
  const recipient = scheme.addressFromText(to);
  let n = 0;
  return () => {
    const about = { timestamp: Date.now(), fee: FEE, recipient };
    const tx = nthTransfer(n++, [sender], about, scheme);
    return { id: base58.encode(tx.id), json: txToJson(tx, scheme) };
  };
}
