/**
 * Bodies of requests, by their route. OWNER and KEY stand for the address and the public key of the
 * owner of the node, ENVELOPE for a key that is wrapped for the owner.
 */
import type { Found } from './found.ts';

export interface FoundBody extends Found {
  readonly method: 'POST';
  readonly path: string;
}

const MIB = 1024 * 1024;

const body = (
  path: string,
  name: string,
  beforeMs: number,
  how: string,
  layers: Found['recipe']['layers'],
  core = '',
): FoundBody => ({ method: 'POST', path, name, beforeMs, how, recipe: { layers, core } });

const SEARCHED = 'route/POST --seed=1';
const TRANSFER = '"type":4,"version":2,"sender":"OWNER","senderPublicKey":"KEY","amount":1';
const MASS =
  '{"type":11,"version":1,"sender":"OWNER","senderPublicKey":"KEY","attachment":"","fee":1,"timestamp":1,"proofs":[],"transfers":[…]}';

export const dearBodies: readonly FoundBody[] = [
  body('/addresses/sign/OWNER', 'a message that becomes Base58', 35, SEARCHED, [
    ['{"message":"…"}', 1],
    ['z…', 65_536],
  ]),
  body('/addresses/signText/OWNER', 'a text of escapes', 24, SEARCHED, [
    ['{"message":"…"}', 1],
    ['\\u0041…', 174_000],
  ]),
  body('/addresses/verify/OWNER', 'a message in Base58', 18, SEARCHED, [
    ['{"message":"…","signature":"KEY","publickey":"KEY"}', 1],
    ['z…', 65_536],
  ]),
  body('/addresses/verifyText/OWNER', 'a text of escapes', 19, SEARCHED, [
    ['{"message":"…","signature":"KEY","publickey":"KEY"}', 1],
    ['\\u0041…', 174_000],
  ]),
  body('/crypto/decrypt', 'a text that could be Base58', 42, SEARCHED, [
    [
      '{"recipient":"OWNER","senderPublicKey":"KEY","wrappedKey":"ENVELOPE","encryptedText":"…"}',
      1,
    ],
    ['x…', 150_000],
  ]),
  ...['/crypto/encryptSeparate', '/crypto/encryptCommon'].map((path) =>
    body(path, 'as many recipients as there may be', 18, SEARCHED, [
      ['{"sender":"OWNER","encryptionText":"x","recipientsPublicKeys":["KEY"…]}', 1],
      [',"KEY"…', 999],
    ]),
  ),
  body('/peers/identity', 'a text of escapes', 28, SEARCHED, [
    ['{"address":"…","signature":"KEY"}', 1],
    ['\\u0041…', 174_000],
  ]),
  body(
    '/transactions/calculateFee',
    'transfers beyond all bounds',
    13,
    SEARCHED,
    [
      [MASS, 1],
      ['{"recipient":"OWNER","amount":1},…', 17_000],
    ],
    '1',
  ),
  body(
    '/transactions/sign',
    'proofs beyond all bounds',
    20,
    SEARCHED,
    [
      [`{${TRANSFER},"recipient":"OWNER","attachment":"","proofs":[…]}`, 1],
      ['"KEY",…', 20_000],
    ],
    '""',
  ),
  body('/transactions/signAndBroadcast', 'an attachment of escapes', 16, SEARCHED, [
    [`{${TRANSFER},"recipient":"OWNER","attachment":"…"}`, 1],
    ['\\u0041…', 174_000],
  ]),
  body(
    '/transactions/broadcast',
    'transfers beyond all bounds',
    19,
    SEARCHED,
    [
      [MASS, 1],
      ['{"recipient":"OWNER","amount":1},…', 17_000],
    ],
    '1',
  ),
  body(
    '/transactions/broadcast',
    'long integers among as many values as are read',
    19,
    SEARCHED,
    [
      [`{${TRANSFER},"recipient":[…]}`, 1],
      ['9007199254740993,…', 49_000],
    ],
    '1',
  ),
  body('/privacy/sendData', 'a text of escapes', 18, SEARCHED, [
    ['{"sender":"OWNER","policyId":"…"}', 1],
    ['\\u0041…', 174_000],
  ]),
  body('/privacy/forceSync', 'a text of escapes', 11, SEARCHED, [
    ['{"policyId":"…"}', 1],
    ['\\u0041…', 174_000],
  ]),
  body('/permissions/addresses', 'as many addresses as there may be', 6, SEARCHED, [
    ['{"timestamp":1,"addresses":["OWNER"…]}', 1],
    [',"OWNER"…', 999],
  ]),
  body('/utils/hash/fast', 'as many bytes as there may be', 15, SEARCHED, [['xyz…', MIB / 3 - 1]]),
  body('/utils/hash/secure', 'as many bytes as there may be', 24, SEARCHED, [
    ['xyz…', MIB / 3 - 1],
  ]),
];
