/** Utilities: hashes, seeds, time, scripts, the keystore's reload. */

import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { base64 } from '../../codec/text.ts';
import { Int32, Int64, plainText } from '../../rest-framework/body.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { ScriptError } from '../../script/language/tree.ts';
import { readBase64 } from '../../script/script.ts';
import { scriptsOf } from '../../tx/scripts/known-scripts.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import { costJson, refusedAsText } from '../script-json.ts';

const route = routesIn('utils');
const SEED_BYTES = 32;

const Hash = Type.Object({ message: Type.String(), hash: Type.String() });

const hashRoute = (path: string, doc: string, name: 'fastHash' | 'secureHash') =>
  route({
    method: 'POST',
    path,
    access: 'public',
    doc,
    body: plainText,
    reply: Hash,
    handle: ({ body }, { family }) => ({
      message: body,
      hash: base58.encode(family[name](Buffer.from(body))),
    }),
  });

const hashFast = hashRoute(
  '/utils/hash/fast',
  'Fast hash of the UTF-8 bytes of the body.',
  'fastHash',
);

const hashSecure = hashRoute(
  '/utils/hash/secure',
  'Secure hash of the UTF-8 bytes of the body; API keys are hashed with it.',
  'secureHash',
);

const Seed = Type.Object({ seed: Type.String() });

const seed = route({
  method: 'GET',
  path: '/utils/seed',
  access: 'public',
  doc: '32 random bytes.',
  reply: Seed,
  handle: (_request, { random }) => ({ seed: base58.encode(random.bytes(SEED_BYTES)) }),
});

const seedOfLength = route({
  method: 'GET',
  path: '/utils/seed/{length}',
  access: 'public',
  doc: 'Random bytes.',
  params: { length: params.positive('The number of bytes, at most 1024.') },
  reply: Seed,
  handle({ params: { length } }, { random }) {
    if (length > limits.seedBytes) throw apiError('TooBigSequence');
    return { seed: base58.encode(random.bytes(length)) };
  },
});

const NOTHING_TO_ESTIMATE =
  'Cannot estimate empty script: expected compiled script in Base64, got nothing';

const Compiled = Type.Object({ script: Type.String(), complexity: Int32, extraFee: Int64 });

const compile = route({
  method: 'POST',
  path: '/utils/script/compile',
  access: 'public',
  doc: 'Compiles the source of a script. A refusal is {"error": text}.',
  cost: { bytesIn: limits.body.script },
  query: {
    assetScript: params.optional(params.flag('Compile the script of an asset.'), false),
  },
  body: plainText,
  reply: Compiled,
  handle: ({ body, query: { assetScript } }, services) =>
    refusedAsText(() => {
      const script = scriptsOf(services.scheme).compile(body, assetScript ? 'asset' : 'account');
      return { script: base64.encode(script.bytes), ...costJson(script, services) };
    }),
});

const estimate = route({
  method: 'POST',
  path: '/utils/script/estimate',
  access: 'public',
  doc: 'The cost of a compiled script. A refusal is {"error": text}.',
  cost: { bytesIn: limits.body.script },
  body: plainText,
  reply: Type.Object({ ...Compiled.properties, scriptText: Type.String() }),
  handle: ({ body }, services) =>
    refusedAsText(() => {
      const sent = body.trim();
      if (sent === '') throw new ScriptError(NOTHING_TO_ESTIMATE);
      const script = readBase64(sent, scriptsOf(services.scheme));
      return { script: sent, scriptText: script.text(), ...costJson(script, services) };
    }),
});

const time = route({
  method: 'GET',
  path: '/utils/time',
  access: 'public',
  doc: 'The time of the system, plain and corrected by NTP.',
  reply: Type.Object({ system: Int64, NTP: Int64 }),
  handle: (_request, { clock }) => ({ system: clock.system(), NTP: clock.now() }),
});

const reloadWallet = route({
  method: 'POST',
  path: '/utils/reload-wallet',
  access: 'loopbackOrApiKey',
  doc: 'Reads the keystore again. A call from this machine needs no key.',
  reply: Type.Object({ message: Type.String() }),
  async handle(_request, { keystore }) {
    await keystore.reload();
    return { message: 'Wallet reloaded successfully' };
  },
});

export const utils = {
  hashFast,
  hashSecure,
  seed,
  seedOfLength,
  compile,
  estimate,
  time,
  reloadWallet,
};
