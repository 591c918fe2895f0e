/** Runs in the copy, and prints as JSON how the node treats type 99. */
import { equal } from '../../../src/base/bytes.ts';
import { stringify } from '../../../src/base/json/json.ts';
import { sendTypes } from '../../../src/cli/commands/tx/tx-fields.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../../src/crypto/families.ts';
import { allSettings } from '../../../src/node/config/settings.ts';
import { broadcastFromJson, txToJson, unsignedFromJson } from '../../../src/tx/json/encode.ts';
import { transactionSchemas } from '../../../src/tx/json/transaction-schemas.ts';
import { decodeTx, signedBytes } from '../../../src/tx/tx-bytes.ts';

const family = createFamily('curve25519');
const scheme = createChainScheme(family, 84);
const keys = family.keyPairFromPhrase('the seed of an account');
const sender = scheme.addressToText(scheme.addressOf(keys.publicKey));
const random = { bytes: (count: number) => new Uint8Array(count).fill(1) };

const draft = unsignedFromJson({ type: 99, version: 1, sender, text: 'hello' }, scheme, {
  publicKeyOf: () => keys.publicKey,
  timestamp: 1_600_000_000_000,
  feeOf: (tx) => tx.def.fee ?? 0n,
});
const signed = draft.assemble([family.sign(keys.privateKey, draft.message, random)]);
const decoded = decodeTx(signed.bytes, scheme);
const json = txToJson(decoded, scheme);
const submitted = broadcastFromJson(JSON.parse(stringify(json)), scheme)[0];

console.log(
  stringify({
    json,
    head: [...decoded.bytes.subarray(0, 3)],
    verified: family.verify(decoded.senderPublicKey, signedBytes(decoded), decoded.proofs[0]!),
    sameBytes: equal(submitted.bytes, signed.bytes),
    schemas: Object.keys(transactionSchemas()).filter((name) => name.includes('Note')),
    fees: allSettings
      .filter(({ key }) => /^blockchain\.fees\..*\.note$/.test(key))
      .map(({ key, setting }) => [key, setting.fallback, setting.doc]),
    flags: sendTypes()
      .filter(({ key }) => key === 'note')
      .map(({ fields, required }) => ({ fields: [...fields.keys()], required })),
  }),
);
