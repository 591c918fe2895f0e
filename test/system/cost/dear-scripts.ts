/** Every door of a node that takes a script or its source, with the dearest that are known. */
import { base58 } from '../../../src/base/base58.ts';
import { stringify } from '../../../src/base/json/json.ts';
import {
  encodeTxHashes,
  encodeTxs,
  txProtocols,
} from '../../../src/network/messages/transaction-messages.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { make } from '../../privacy/members.ts';
import { API_KEY, family } from '../e2e/network-folder.ts';
import { scheme } from '../e2e/process-network.ts';
import { type Attack, answerTo, judged, tally } from './attack.ts';
import type { Found } from './found/found.ts';
import { dearToRead, dearToRun, variants } from './found/scripts.ts';
import { dearToCompile } from './found/sources.ts';
import { type AttackingPeer, connectPeer } from './peer.ts';
import { asPeer } from './peers.ts';
import { type Recipe, textOf } from './search/recipe.ts';
import { scriptOf, type Words } from './search/script-notation.ts';
import { peers, type Target } from './target.ts';

const FEE = 100_000_000;
const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

/** What the words of the notation stand for on this node. */
const wordsOf = ({ id }: Target, { publicKey, address }: AttackingPeer): Words => ({
  KNOWN: hex(base58.decode(id)!),
  KEY: hex(publicKey),
  ADDRESS: hex(address),
});

let distinct = 0;

/** A script of this cost that the node has not seen. */
export const freshBytes = ({ recipe }: Found, words: Words): Uint8Array => {
  // Its words are those of one attacker, so a recipe with words has one set of variants only.
  const known = made.get(recipe) ?? variants(recipe, family.secureHash, words);
  made.set(recipe, known);
  return known(distinct++);
};

const made = new Map<Recipe, (number: number) => Uint8Array>();

const freshScript = (of: Found, words: Words): string =>
  `base64:${Buffer.from(freshBytes(of, words)).toString('base64')}`;

const post = (
  { rest }: Target,
  path: string,
  body: string,
  type = 'application/json',
): Promise<string> =>
  answerTo(rest.url + path, {
    method: 'POST',
    headers: { 'content-type': type, 'x-api-key': API_KEY },
    body,
  });

const many = async (count: number, send: (i: number) => Promise<string>): Promise<string> =>
  tally(await Promise.all(Array.from({ length: count }, (_, i) => send(i))));

// ── sources ──────────────────────────────────────────────────────────────────────────────────

const compiling = (of: Found, atOnce: number): Attack[] =>
  [false, true].map((isOfAsset) => ({
    name: `\`POST /utils/script/compile\` ${of.name}${isOfAsset ? ', for an asset' : ''}`,
    send: (target) =>
      many(atOnce, (i) => {
        const source = `#${distinct++} ${i}\n${textOf(of.recipe)}`.slice(0, 65_536);
        const path = `/utils/script/compile?assetScript=${isOfAsset}`;
        return post(target, path, source, 'text/plain');
      }),
  }));

// ── reading ──────────────────────────────────────────────────────────────────────────────────

const NO_PROOF = base58.encode(new Uint8Array(64));

/** Bodies that hold a script, by their route. */
const HOLDERS: readonly (readonly [path: string, type: number])[] = [
  ['/transactions/broadcast', 13],
  ['/transactions/broadcast', 3],
  ['/transactions/broadcast', 15],
  ['/transactions/calculateFee', 13],
  ['/transactions/sign', 13],
  ['/transactions/signAndBroadcast', 15],
];

const bodyWith = (type: number, script: string, { owner, publicKey, assetId }: Target): string =>
  stringify({
    type,
    version: type === 3 ? 2 : 1,
    sender: owner,
    senderPublicKey: publicKey,
    timestamp: Date.now(),
    fee: FEE,
    chainId: scheme.chainId,
    proofs: [NO_PROOF],
    script,
    name: 'dear',
    description: '',
    ...(type === 15 ? { assetId } : {}),
    ...(type === 3 ? { quantity: 1, decimals: 0, reissuable: false } : {}),
  });

const reading = (of: Found, atOnce: number): Attack[] => [
  {
    name: `\`POST /utils/script/estimate\` ${of.name}`,
    send: (target) =>
      many(atOnce, () => post(target, '/utils/script/estimate', freshScript(of, {}), 'text/plain')),
  },
  ...HOLDERS.map(
    ([path, type]): Attack => ({
      name: `\`POST ${path}\` type ${type}: ${of.name}`,
      send: (target) =>
        many(atOnce, () => post(target, path, bodyWith(type, freshScript(of, {}), target))),
    }),
  ),
];

// ── messages ─────────────────────────────────────────────────────────────────────────────────

export const COUNT_MAX = 500;
const ANNOUNCED_MS = 20_000;

/** Announces transactions and sends them when the node asks. */
export async function handedOver(
  target: Target,
  index: number,
  makeAll: (peer: AttackingPeer) => readonly Uint8Array[],
): Promise<string> {
  let all: readonly Uint8Array[] = [];
  let asked = (): void => {};
  let isHandedOver = false;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const peer = await connectPeer(target, peers[index]!, {
    transactions() {
      isHandedOver = true;
      asked();
      return encodeTxs(all, scheme);
    },
  });
  try {
    all = makeAll(peer);
    await target.seen();
    const stream = await peer.open(txProtocols.hashes);
    const hashes = all.map((bytes) => scheme.fastHash(bytes));
    await stream.send(encodeTxHashes(hashes, scheme));
    await Promise.race([isAsked, new Promise((resolve) => setTimeout(resolve, ANNOUNCED_MS))]);
    // The answer has arrived and is read before a request that comes now, or soon after.
    await settled(target);
    return judged(
      isHandedOver,
      isHandedOver ? `${all.length} handed over` : 'the node did not ask',
    );
  } finally {
    await peer.close();
  }
}

const SETTLED_MS = 1_000;

/** Time for the node to take what it has got. */
async function settled({ rest }: Target): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  await rest.height();
}

const guard = (peer: AttackingPeer, script: Uint8Array): Tx =>
  make(peer, Date.now() + (distinct % 1000), {
    type: 13,
    name: 'dear',
    description: '',
    chainId: scheme.chainId,
    fee: FEE,
    script: `base64:${Buffer.from(script).toString('base64')}`,
  });

/** The bytes of such a transaction, signed, even where the script is none. */
export function guardBytes(peer: AttackingPeer, script: Uint8Array): Uint8Array {
  const least = textScript(0).length;
  const stand = textScript(script.length - least);
  const { bytes, body } = guard(peer, stand);
  const replaced = (whole: Uint8Array): Buffer => {
    const copy = Buffer.from(whole);
    copy.set(script, copy.indexOf(stand));
    return copy;
  };
  const made = replaced(bytes);
  // The only proof stands at the end.
  const signature = peer.sign(replaced(body));
  made.set(signature, made.length - signature.length);
  return made;
}

const textScript = (length: number): Uint8Array =>
  scriptOf(`(#0 "x"*${length} "")`, family.secureHash);

const readingPeers = (of: Found, count: number): Attack => ({
  name: `\`${txProtocols.txs}\` ${count} scripts in one message: ${of.name}`,
  send: (target) =>
    handedOver(target, 1, (peer) =>
      Array.from({ length: count }, () => guardBytes(peer, freshBytes(of, {}))),
    ),
});

// ── runs ─────────────────────────────────────────────────────────────────────────────────────

/** Which attacker has which script; the others of test:cost keep theirs. */
const RUNNERS = dearToRun.map((of, i) => [of, i + 2] as const);

/** The attacker gets the script, unless the node has it already. */
async function guarded(target: Target, of: Found, peer: AttackingPeer): Promise<void> {
  const address = scheme.addressToText(peer.address);
  const known = (await target.rest.get(`/addresses/scriptInfo/${address}`)).body as object;
  if ('script' in known && known.script !== null && known.script !== undefined) return;
  const tx = guard(peer, freshBytes(of, wordsOf(target, peer)));
  const { status, body } = await target.rest.post('/transactions/broadcast', txToJson(tx, scheme));
  if (status !== 200) throw new Error(`${of.name}: ${JSON.stringify(body).slice(0, 300)}`);
  await target.rest.mined(base58.encode(tx.id));
}

const ENTRIES = Array.from({ length: 100 }, (_, i) => ({
  key: `${i}`,
  type: 'string',
  value: 'x'.repeat(1400),
}));

/** Nearly as large as a transaction may be. */
const largeTx = (peer: AttackingPeer): Tx =>
  make(peer, Date.now() + (distinct++ % 1000), {
    type: 12,
    fee: 2 * FEE,
    data: ENTRIES,
  });

const running = (of: Found, index: number, count: number): Attack[] => [
  {
    name: `\`POST /transactions/broadcast\` ${count} at once: ${of.name}`,
    send: (target) =>
      asPeer(target, index, async (peer) => {
        await guarded(target, of, peer);
        const bodies = Array.from({ length: count }, () =>
          stringify(txToJson(largeTx(peer), scheme)),
        );
        await target.seen();
        return many(count, (i) => post(target, '/transactions/broadcast', bodies[i]!));
      }),
  },
  {
    name: `\`GET /addresses/scriptInfo/{address}\` ${of.name}`,
    send: (target) =>
      asPeer(target, index, async (peer) => {
        await guarded(target, of, peer);
        const address = scheme.addressToText(peer.address);
        return many(count, () =>
          answerTo(`${target.rest.url}/addresses/scriptInfo/${address}`, {}),
        );
      }),
  },
  {
    name: `\`${txProtocols.txs}\` transactions of one message: ${of.name}`,
    async send(target) {
      await asPeer(target, index, async (peer) => {
        await guarded(target, of, peer);
        return '';
      });
      return handedOver(target, index, (peer) =>
        Array.from({ length: Math.min(count, LARGE_MAX) }, () => largeTx(peer).bytes),
      );
    },
  },
];

/** Of 140 KB each, in 4 MiB. */
const LARGE_MAX = 28;

export const scriptRows = (isFull: boolean): Attack[] => [
  ...dearToCompile.flatMap((of) => compiling(of, isFull ? 8 : 1)),
  ...dearToRead.flatMap((of) => reading(of, isFull ? 32 : 2)),
  ...RUNNERS.flatMap(([of, index]) => running(of, index, isFull ? 64 : 4)),
  // Last, since blocks have room for a part of them only.
  ...dearToRead.map((of) => readingPeers(of, isFull ? COUNT_MAX : 100)),
];
