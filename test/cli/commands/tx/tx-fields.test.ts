// The flags of `tx send`: the values that other libraries put into a transaction, written as flags,
// give the bytes that these libraries signed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import t from 'tap';
import { base58 } from '../../../../src/base/base58.ts';
import { equal } from '../../../../src/base/bytes.ts';
import { encodeHex } from '../../../../src/base/hex.ts';
import { type JsonObject, parse, stringify } from '../../../../src/base/json/json.ts';
import {
  fieldOption,
  flagOf,
  type SendType,
  sendTypes,
  valueFrom,
  versionFor,
} from '../../../../src/cli/commands/tx/tx-fields.ts';
import { requestOf } from '../../../../src/cli/commands/tx/tx-send.ts';
import { cryptographyOf } from '../../../../src/cli/cryptography.ts';
import { unsignedFromJson } from '../../../../src/tx/json/encode.ts';
import { allTypes } from '../../../../src/tx/registry.ts';

interface Vector {
  readonly name: string;
  readonly json: JsonObject;
  readonly bodyBytesHex: string;
  readonly senderPublicKey: string;
  readonly accept: boolean;
}
const { vectors } = parse(
  readFileSync(join(import.meta.dirname, '../../../vectors/transactions.json'), 'utf8'),
) as { vectors: Vector[] };

const { scheme } = cryptographyOf(true, 'T');
const kinds = sendTypes();

t.test('there is a sub-command for every type that a client may submit', async (t) => {
  const expected = allTypes.filter((def) => def.internal !== true && def.signable !== false);
  t.same(kinds.map(({ key }) => key).sort(), expected.map(({ key }) => key).sort());
});

/** The flags as somebody would type them. */
function flagsFor(of: SendType, json: JsonObject): string[] {
  return [...of.fields.keys()].flatMap((name) => {
    const value = json[name];
    if (value === undefined) return [];
    const text = typeof value === 'string' ? value : stringify(value);
    // A bare flag takes no empty text for an asset; the member null means the same.
    return [`${flagOf(name)}=${text === '' && name.endsWith('ssetId') ? 'null' : text}`];
  });
}

function bytesOf(
  of: SendType,
  args: readonly string[],
  words: readonly string[],
  keys: readonly Uint8Array[],
) {
  const command = new Command().exitOverride().option('--version <n>');
  for (const name of of.fields.keys()) command.addOption(fieldOption(of, name));
  command.parse([...args], { from: 'user' });
  const request = requestOf(of, words, command.opts());
  const draft = unsignedFromJson(request, scheme, {
    publicKeyOf: (address) => keys.find((key) => equal(scheme.addressOf(key), address)),
    timestamp: 0,
    feeOf: () => 0n,
  });
  return encodeHex(draft.message);
}

t.test('flags and words give the bytes of client libraries', async (t) => {
  const seen = new Set<number>();
  for (const { name, json, bodyBytesHex, senderPublicKey, accept } of vectors) {
    const of = kinds.find(({ type }) => type === json['type']);
    if (!accept || of === undefined) continue;
    seen.add(of.type);
    const sender = scheme.addressToText(scheme.addressOf(base58.decode(senderPublicKey)));
    const full: JsonObject = { ...json, sender };
    const author = json['authorPublicKey'];
    const keys = [senderPublicKey, ...(typeof author === 'string' ? [author] : [])].map((text) =>
      base58.decode(text),
    );
    const version = String(json['version']);
    const args = [...flagsFor(of, full), '--version', version];
    t.equal(bytesOf(of, args, [], keys), bodyBytesHex, `${name} as flags`);
    const words = flagsFor(of, full).map((flag) => {
      const [, word, value] = /^--([^=]+)=(.*)$/s.exec(flag) ?? [];
      return `${word?.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())}=${value}`;
    });
    const asWords = bytesOf(of, ['--version', version], words, keys);
    t.equal(asWords, bodyBytesHex, `${name} as words`);
  }
  t.equal(seen.size, kinds.length, 'every type has been tried');
});

t.test('values', async (t) => {
  const transfers = { type: 'array', items: { type: 'object', properties: entry() } };
  function entry() {
    const recipient = { type: 'string' };
    return { recipient, amount: { type: 'integer' }, type: { enum: ['string'] }, value: {} };
  }
  t.same(valueFrom(transfers, 'recipient=3N,amount=5'), [{ recipient: '3N', amount: 5 }]);
  t.same(valueFrom(transfers, '[{"amount":1},{"amount":2}]'), [{ amount: 1 }, { amount: 2 }]);
  t.same(valueFrom(transfers, 'type=string,value=5'), [{ type: 'string', value: '5' }]);
  t.same(valueFrom(transfers, 'value=5'), [{ value: 5 }]);
  t.equal(valueFrom({ type: 'integer' }, '9007199254740993'), 9007199254740993n);
  t.equal(valueFrom({ type: 'string' }, '5'), '5');
  t.equal(valueFrom({ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'null'), null);
  const wrong: [object, string, RegExp][] = [
    [{ type: 'integer' }, '1.5', /an integer/],
    [{ type: 'boolean' }, 'yes', /true or false/],
    [{ enum: ['add', 'remove'] }, 'swap', /one of add, remove/],
    [transfers, 'amount', /recipient=…,amount=…/],
    [transfers, 'sum=5', /recipient=…,amount=…/],
    [transfers, '[1', /JSON/],
  ];
  for (const [schema, text, message] of wrong) {
    t.throws(() => valueFrom(schema as Record<string, unknown>, text), message);
  }
});

t.test('the version is the lowest that has the fields', async (t) => {
  const transfer = kinds.find(({ key }) => key === 'transfer')!;
  const mass = kinds.find(({ key }) => key === 'mass-transfer')!;
  t.equal(versionFor(transfer, ['amount']), 1);
  t.equal(versionFor(transfer, ['atomicBadge']), 3);
  t.equal(versionFor(mass, ['transfers']), 1);
  t.equal(versionFor(mass, ['transfers', 'feeAssetId']), 2);
  const sponsor = kinds.find(({ key }) => key === 'sponsor-fee')!;
  t.equal(versionFor(sponsor, ['assetId', 'minSponsoredAssetFee']), 1);
  t.equal(versionFor(sponsor, ['assetId', 'isEnabled']), 1);
  t.equal(versionFor(sponsor, ['minSponsoredAssetFee', 'isEnabled']), undefined);
  t.throws(() => requestOf(transfer, [], {}), /needs --sender, --amount, --recipient/);
  const words = ['sender=3M', 'recipient=3N', 'amount=1'];
  t.match(requestOf(transfer, [...words, 'version=2'], {}), { version: 2, amount: 1 });
  t.throws(() => requestOf(transfer, [...words, 'atachment=x'], {}), {
    message: "transfer has no field 'atachment': did you mean 'attachment'?",
    code: 2,
  });
  t.throws(() => requestOf(transfer, [...words, 'x=1'], {}), /no field 'x': it has /);
});
