/**
 * Accepted spellings, defaults, signing and fee requests (rest.md#transactions,
 * transactions.md#signing, transactions.md#json).
 */
import t from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { ApiError, apiError } from '../../src/base/errors.ts';
import { base58 } from '../../src/codec/text.ts';
import {
  broadcastFromJson,
  forFeeFromJson,
  type SignDefaults,
  txFromJson,
  txToJson,
  unsignedFromJson,
} from '../../src/tx/json/encode.ts';
import { decodeTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { sponsorFee, sponsorshipRatio } from '../../src/tx/types/014-sponsor-fee.ts';
import { family, scheme } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';

const rng = new Rng(5);
const random = { bytes: (count: number) => rng.bytes(count) };
const [own, other] = ['own', 'other'].map((phrase) => {
  const { privateKey, publicKey } = family.keyPairFromPhrase(phrase);
  return { privateKey, publicKey, address: scheme.addressOf(publicKey) };
}) as [Account, Account];

interface Account {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly address: Uint8Array;
}

const id = base58.encode(new Uint8Array(32).fill(3));
const key = base58.encode(own.publicKey);
const to = scheme.addressToText(other.address);
const NOW = 1574240400000;
const signature = base58.encode(new Uint8Array(64).fill(1));
const common = { senderPublicKey: key, fee: 1, timestamp: NOW };
const code = (attempt: () => unknown): number | undefined => {
  try {
    attempt();
  } catch (cause) {
    if (cause instanceof ApiError) return cause.code;
    throw cause;
  }
  return undefined;
};

t.test('version left out of a broadcast', (t) => {
  const transfer = { ...common, type: 4, recipient: to, amount: 1 };
  t.equal(txFromJson({ ...transfer, proofs: [signature] }, scheme).version, 2);
  t.equal(txFromJson({ ...transfer, signature }, scheme).version, 1);
  t.equal(txFromJson({ ...transfer, version: '2', proofs: [] }, scheme).version, 2);
  const mass = { ...common, type: 11, transfers: [], proofs: [] };
  t.equal(txFromJson(mass, scheme).version, 1);
  t.end();
});

t.test('one signature for one proof and the other way round', (t) => {
  const transfer = { ...common, type: 4, recipient: to, amount: 1 };
  t.equal(txFromJson({ ...transfer, version: 2, signature }, scheme).proofs.length, 1);
  t.equal(txFromJson({ ...transfer, version: 1, proofs: [signature] }, scheme).proofs.length, 1);
  t.end();
});

t.test('other names of members', (t) => {
  const fields = { ...common, version: 2, proofs: [] };
  t.equal(
    txFromJson({ ...fields, type: 6, assetId: id, quantity: 7 }, scheme).fields['amount'],
    7n,
  );
  const cancel = txFromJson({ ...fields, type: 9, txId: id }, scheme);
  t.equal(base58.encode(cancel.fields['leaseId'] as Uint8Array), id);
  const native = { ...fields, type: 4, recipient: `address:${to}`, amount: 1, assetId: '' };
  t.equal(txFromJson(native, scheme).fields['assetId'], undefined);
  const create = {
    ...{ ...common, type: 103, proofs: [], params: [] },
    ...{ image: 'registry.example.org:5000/team/app:1.0', imageHash: 'AB'.repeat(32) },
  };
  const { fields: created } = txFromJson(create, scheme);
  t.equal(created['contractName'], 'app');
  t.equal(created['imageHash'], 'AB'.repeat(32), 'upper case stays');
  const permit = { ...common, type: 102, target: to, opType: 'ADD', role: 'miner', proofs: [] };
  t.equal(txFromJson(permit, scheme).fields['opType'], 'add');
  t.end();
});

t.test('hash of policy data', (t) => {
  const bytes = new Uint8Array(32).fill(0xab);
  const request = { ...common, type: 114, policyId: id, proofs: [] };
  const spellings = [
    { hash: 'ab'.repeat(32) },
    { hash: base58.encode(bytes) },
    { dataHash: base58.encode(bytes) },
    { hash: 'ab'.repeat(32), dataHash: base58.encode(bytes) },
    { hash: null, dataHash: base58.encode(bytes) },
  ];
  for (const spelling of spellings) {
    const tx = txFromJson({ ...request, ...spelling }, scheme);
    t.same(tx.fields['dataHash'], bytes);
    t.match(txToJson(tx, scheme), { hash: 'ab'.repeat(32), dataHash: base58.encode(bytes) });
  }
  const two = { hash: 'cd'.repeat(32), dataHash: base58.encode(bytes) };
  t.throws(() => txFromJson({ ...request, ...two }, scheme), {
    message: 'hash and dataHash contradict each other',
  });
  t.end();
});

t.test('the two forms of sponsorship', (t) => {
  const request = { ...common, type: 14, version: 1, assetId: id, proofs: [] as string[] };
  const forms = (json: object): unknown[] =>
    broadcastFromJson({ ...request, ...json }, scheme).map((tx) => tx.layout.variant);
  t.same(forms({}), ['ratio']);
  t.same(forms({ minSponsoredAssetFee: 5 }), ['ratio']);
  t.same(forms({ isEnabled: true }), ['switch']);
  t.same(forms({ isEnabled: true, minSponsoredAssetFee: 5 }), ['ratio', 'switch']);
  t.same(forms({ isEnabled: false, minSponsoredAssetFee: null }), ['ratio', 'switch']);
  t.equal(
    code(() => forms({ isEnabled: true, minSponsoredAssetFee: null })),
    199,
  );

  for (const variant of ['ratio', 'switch']) {
    const draft = broadcastFromJson(
      { ...request, isEnabled: true, minSponsoredAssetFee: 100000 },
      scheme,
    ).find((tx) => tx.layout.variant === variant)!;
    const proof = family.sign(own.privateKey, signedBytes(draft), random);
    const body = { ...txToJson(draft, scheme), proofs: [base58.encode(proof)] };
    const meant = broadcastFromJson(body, scheme).filter((tx) =>
      family.verify(tx.senderPublicKey, signedBytes(tx), tx.proofs[0]!),
    );
    t.same(
      meant.map((tx) => tx.layout.variant),
      [variant],
      'the proof tells which one is meant',
    );
    t.equal(decodeTx(meant[0]!.bytes, scheme).layout.variant, variant, 'so do the bytes');
  }
  const off = broadcastFromJson({ ...request, isEnabled: false }, scheme)[0];
  t.equal(sponsorshipRatio(off as unknown as Parameters<typeof sponsorshipRatio>[0]), undefined);
  t.match(txToJson(off, scheme), { isEnabled: false, minSponsoredAssetFee: null });
  t.equal(sponsorFee.type, 14);
  t.end();
});

const defaults: SignDefaults = {
  publicKeyOf(address) {
    const account = [own, other].find((candidate) => equal(candidate.address, address));
    if (account === undefined) throw apiError('MissingSenderPrivateKey');
    return account.publicKey;
  },
  timestamp: NOW,
  feeOf: () => 4321n,
};

t.test('sign', (t) => {
  const sender = scheme.addressToText(own.address);
  const request = { type: 4, version: 2, sender, recipient: to, amount: 1, password: 'x' };
  const draft = unsignedFromJson(request, scheme, defaults);
  const tx = draft.assemble([family.sign(own.privateKey, draft.message, random)]);
  t.equal(tx.fee, 4321n, 'fee of the node');
  t.equal(tx.timestamp, NOW, 'time of the node');
  t.same(signedBytes(tx), draft.message);
  t.ok(family.verify(tx.senderPublicKey, signedBytes(tx), tx.proofs[0]!));
  t.same(txFromJson(txToJson(tx, scheme), scheme).bytes, tx.bytes, 'ready for broadcast');

  const old = unsignedFromJson({ ...request, version: undefined, fee: 5 }, scheme, defaults);
  t.equal(old.layout.frame, 'signedFirst', 'version 1 where none is named');
  t.equal(old.assemble([new Uint8Array(64)]).fee, 5n);

  t.equal(
    code(() => unsignedFromJson({ ...request, sender: 'xyz' }, scheme, defaults)),
    102,
  );
  t.equal(
    code(() => unsignedFromJson({ ...request, sender: undefined }, scheme, defaults)),
    1,
  );
  const stranger = scheme.addressToText(scheme.addressOf(new Uint8Array(32).fill(8)));
  t.equal(
    code(() => unsignedFromJson({ ...request, sender: stranger }, scheme, defaults)),
    115,
  );
  const both = { ...request, sender: stranger, amount: undefined };
  t.equal(
    code(() => unsignedFromJson(both, scheme, defaults)),
    1,
    'fields before keys',
  );
  for (const type of [1, 2, 7, 101, 105, 110]) {
    t.equal(
      code(() => unsignedFromJson({ type, sender }, scheme, defaults)),
      199,
      `type ${type}`,
    );
  }
  t.end();
});

t.test('sign a call of the present version of a contract', (t) => {
  const sender = scheme.addressToText(own.address);
  const request = { type: 104, version: 2, sender, contractId: id, params: [] };
  const known = { ...defaults, contractVersionOf: () => 7 };
  const version = (json: object, by: SignDefaults): unknown =>
    unsignedFromJson({ ...request, ...json }, scheme, by).fields['contractVersion'];
  t.equal(version({}, known), 7);
  t.equal(version({ contractVersion: 3 }, known), 3);
  t.equal(version({}, defaults), 1);
  t.equal(version({ version: 1 }, known), 1, 'version 1 means the first');
  t.equal(
    txFromJson({ ...common, ...request, sender: undefined, proofs: [] }, scheme).fields[
      'contractVersion'
    ],
    1,
  );
  t.end();
});

t.test('sign for an author', (t) => {
  const sender = scheme.addressToText(own.address);
  const request = { type: 12, sender, data: [] };
  const alone = unsignedFromJson(request, scheme, defaults);
  t.same(alone.fields['authorPublicKey'], own.publicKey, 'the sender is the author');
  t.same(alone.signer, own.address);
  for (const senderPublicKey of ['', base58.encode(other.publicKey)]) {
    const { fields } = unsignedFromJson({ ...request, senderPublicKey }, scheme, defaults);
    t.same(fields, alone.fields, 'as for every type, the key of the request is not looked at');
  }
  const draft = unsignedFromJson({ ...request, author: to }, scheme, defaults);
  t.same(draft.fields['authorPublicKey'], other.publicKey);
  t.same(draft.signer, other.address);
  t.match(txToJson(draft.assemble([]), scheme), { author: to, sender });
  t.end();
});

t.test('calculateFee looks neither at proofs nor at the fee', (t) => {
  const request = {
    ...{ type: 4, senderPublicKey: key, recipient: to, amount: 1 },
    ...{ fee: 'x', proofs: 5, signature: {}, sender: 'nobody' },
  };
  const tx = forFeeFromJson(request, scheme);
  t.equal(tx.version, 1);
  t.equal(tx.fee, 0n);
  t.equal(
    code(() => forFeeFromJson({ ...request, senderPublicKey: undefined }, scheme)),
    1,
  );
  t.equal(
    code(() => forFeeFromJson({ ...request, senderPublicKey: 'abc' }, scheme)),
    108,
  );
  t.equal(
    code(() => forFeeFromJson({ ...request, amount: -1 }, scheme)),
    111,
  );
  t.equal(
    code(() => forFeeFromJson({ ...request, type: 99 }, scheme)),
    199,
  );
  t.end();
});

t.test('answers', (t) => {
  const old = txFromJson({ ...common, type: 4, recipient: to, amount: 1, signature }, scheme);
  t.match(txToJson(old, scheme), {
    ...{ version: 1, signature, proofs: [signature], assetId: null, feeAssetId: null },
    ...{ attachment: '', sender: scheme.addressToText(own.address), recipient: to },
  });
  const transfers = [{ recipient: 'alias:T:some.one', amount: 5 }];
  const mass = { ...common, type: 11, transfers, proofs: [], transferCount: 9, totalAmount: 9 };
  t.match(txToJson(txFromJson(mass, scheme), scheme), {
    ...{ transferCount: 1, totalAmount: 5, transfers },
  });
  t.end();
});
