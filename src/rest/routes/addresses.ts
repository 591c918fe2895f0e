/** Addresses: the keystore's, validation, scripts and data entries. */

import { base58 } from '../../base/base58.ts';
import { ApiError, apiError } from '../../base/errors.ts';
import { ADDRESS_BYTES } from '../../base/sizes.ts';
import { CodecError } from '../../codec/codec.ts';
import { aliasOwner } from '../../ledger/aliases.ts';
import { dataEntries, dataEntry } from '../../ledger/data.ts';
import { scripts } from '../../ledger/tables.ts';
import { Int32, Int64, json, list } from '../../rest-framework/body.ts';
import { endingWith, listOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { aliasToText } from '../../tx/fields/recipient.ts';
import { readAlias } from '../alias-name.ts';
import { EntryShape, entriesQuery, entryJson, queriedEntries } from '../data-entries.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import { scriptJson } from '../script-json.ts';
import type { Services } from '../services.ts';
import { addressBalances } from './address-balances.ts';
import { addressMessages } from './address-messages.ts';

const route = routesIn('addresses');

const all = route({
  method: 'GET',
  path: '/addresses',
  access: 'public',
  doc: 'Addresses whose keys are in the keystore.',
  reply: Type.Array(Type.String()),
  cost: { streamed: true },
  handle: () => streamed(({ keystore }) => listOf(keystore.addresses(), String)),
});

const seq = route({
  method: 'GET',
  path: '/addresses/seq/{from}/{to}',
  access: 'public',
  doc: 'Addresses of the keystore by position, counted from 0, both ends included.',
  params: { from: params.nonNegative('First place.'), to: params.positive('Last place.') },
  reply: Type.Array(Type.String()),
  handle({ params: { from, to } }, { keystore }) {
    if (to < from) throw apiError('Invalid', 'Invalid interval');
    if (to - from > limits.addresses) throw apiError('TooBigSequence');
    return keystore.addresses().slice(from, to + 1);
  },
});

const scriptInfo = route({
  method: 'GET',
  path: '/addresses/scriptInfo/{address}',
  also: ['/addresses/sriptInfo/{address}'],
  access: 'public',
  doc: 'The script of an account.',
  params: { address: params.address },
  reply: Type.Object({
    address: Type.String(),
    script: Type.Optional(Type.String()),
    scriptText: Type.Optional(Type.String()),
    complexity: Int32,
    extraFee: Int64,
  }),
  handle({ params: { address } }, services) {
    const script = services.view.get(scripts, address.bytes);
    const about = script && scriptJson(script, services);
    return { address: address.text, ...(about ?? { complexity: 0, extraFee: 0 }) };
  },
});

const Validity = Type.Object({
  addressOrAlias: Type.String(),
  valid: Type.Boolean(),
  reason: Type.Optional(Type.String()),
});

function validity(text: string, services: Services) {
  const reason = invalidity(text, services);
  return reason === undefined
    ? { addressOrAlias: text, valid: true }
    : { addressOrAlias: text, valid: false, reason };
}

/** Why this text is neither an address nor a registered alias. */
function invalidity(text: string, { scheme, view }: Services): string | undefined {
  const looksLikeAddress =
    text.startsWith('address:') || params.fromBase58(text)?.length === ADDRESS_BYTES;
  try {
    if (looksLikeAddress) {
      params.readAddress(text, scheme);
      return undefined;
    }
    const name = readAlias(text, scheme);
    if (aliasOwner(view, name) !== undefined) return undefined;
    return `AliasDoesNotExist(${aliasToText(name, scheme)})`;
  } catch (error) {
    const reason = error instanceof CodecError ? error.why : apiReason(error);
    return looksLikeAddress ? `InvalidAddress(${reason})` : `GenericError(${reason})`;
  }
}

function apiReason(error: unknown): string {
  if (!(error instanceof ApiError)) throw error;
  return error.message.replace(/^invalid address: /, '');
}

const validate = route({
  method: 'GET',
  path: '/addresses/validate/{addressOrAlias}',
  access: 'public',
  doc: 'Whether a text is an address of this network or a registered alias; always 200.',
  params: { addressOrAlias: params.text('An address or an alias.') },
  reply: Validity,
  handle: ({ params: { addressOrAlias } }, services) => validity(addressOrAlias, services),
});

const validateMany = route({
  method: 'POST',
  path: '/addresses/validateMany',
  access: 'public',
  doc: 'The same for a list.',
  cost: { streamed: true, rows: limits.addresses },
  body: json(Type.Object({ addressesOrAliases: list(Type.String(), limits.addresses) })),
  reply: Type.Object({ validations: Type.Array(Validity) }),
  handle: ({ body: { addressesOrAliases } }) =>
    streamed((services) =>
      endingWith(
        {},
        'validations',
        listOf(addressesOrAliases, (text) => validity(text, services)),
      ),
    ),
});

const ofPublicKey = route({
  method: 'GET',
  path: '/addresses/publicKey/{publicKey}',
  access: 'public',
  doc: 'The address of a public key.',
  params: { publicKey: params.publicKey },
  reply: Type.Object({ address: Type.String() }),
  handle: ({ params: { publicKey } }, { scheme }) => ({
    address: scheme.addressToText(scheme.addressOf(publicKey)),
  }),
});

const info = route({
  method: 'GET',
  path: '/addresses/info/{address}',
  access: 'public',
  doc: 'The public key of an address of the keystore.',
  params: { address: params.address },
  reply: Type.Object({ address: Type.String(), publicKey: Type.String() }),
  handle({ params: { address } }, { keystore }) {
    const key = keystore.publicKey(address.bytes);
    if (key === undefined) throw apiError('MissingSenderPrivateKey');
    return { address: address.text, publicKey: base58.encode(key) };
  },
});

const data = route({
  method: 'GET',
  path: '/addresses/data/{address}',
  access: 'public',
  doc: 'Data entries of an account in the order of their keys.',
  cost: { streamed: true, rows: limits.entryRows },
  params: { address: params.address },
  query: entriesQuery,
  reply: Type.Array(EntryShape),
  handle: ({ params: { address }, query, http }, services) =>
    queriedEntries(
      (view) => dataEntries(view, address.bytes, limits.entryRows),
      query,
      http.remoteAddress(),
      services,
    ),
});

const dataOfKey = route({
  method: 'GET',
  path: '/addresses/data/{address}/{key}',
  // The empty key is a valid key.
  also: ['/addresses/data/{address}/'],
  access: 'public',
  doc: 'One data entry of an account.',
  params: { address: params.address, key: params.text('Key of the entry.') },
  reply: EntryShape,
  handle({ params: { address, key } }, { view }) {
    const value = dataEntry(view, address.bytes, key);
    if (value === undefined) throw apiError('NoDataForKey', key);
    return entryJson([key, value]);
  },
});

export const addresses = {
  list: all,
  seq,
  ...addressBalances,
  scriptInfo,
  ...addressMessages,
  validate,
  validateMany,
  ofPublicKey,
  info,
  data,
  dataEntry: dataOfKey,
};
