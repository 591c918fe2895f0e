// A stranger at the public routes of running nodes: accounts without a role and without an API key,
// which post what once made a node answer no more, split a network, or set honest nodes against each
// other. Each has an answer that says what is wrong, and the chain goes on. What nobody has signed is
// posted to a node that dies in test/system/crash/unsigned.test.ts, and how long each of these holds the
// event loop is measured in test/system/cost/dear.test.ts.
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { SCRIPT_RUNS_MAX } from '../../../src/block/block.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { RUN_UNITS_MAX } from '../../../src/script/evaluation/meter.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { setScript } from '../../../src/tx/types/013-set-script.ts';
import { seededRandom } from '../../crypto/random.ts';
import { family } from '../../family.ts';
import { compiled } from '../../generators/scripts.ts';
import { dearToRead, dearToRun, variants } from '../cost/found/scripts.ts';
import { dearToCompile } from '../cost/found/sources.ts';
import { textOf } from '../cost/search/recipe.ts';
import { scriptOf } from '../cost/search/script-notation.ts';
import {
  type Key,
  NOBODY,
  scriptTx,
  signedTx,
  tradeTx,
  transferTx,
} from '../crash/witness/unsigned.ts';
import { type Account, startDevNetwork, startDevNode } from './dev-node.ts';
import { eventually } from './process.ts';
import { type Answer, type Rest, restOf } from './rest.ts';

const CHAIN_ID = 'T';
const scheme = createChainScheme(family, CHAIN_ID.charCodeAt(0));
const random = seededRandom('stranger');
const FEE = 100_000_000n;
/** More than the node takes at once it puts off. */
const AT_ONCE = 10;

t.setTimeout(300_000);

function keyOf({ seed }: Account): Key {
  const { privateKey, publicKey } = family.keyPairFromPhrase(seed);
  const sign = (message: Uint8Array): Uint8Array => family.sign(privateKey, message, random);
  return { publicKey, address: scheme.addressOf(publicKey), sign };
}

/** As anybody asks a node: without its API key. */
const publicOf = ({ url }: Rest): Rest => restOf(url);

const post = (rest: Rest, tx: Tx): Promise<Answer> =>
  rest.post('/transactions/broadcast', txToJson(tx, scheme));

async function postText({ url }: Rest, path: string, body: string): Promise<Answer> {
  const response = await fetch(url + path, { method: 'POST', body });
  return { status: response.status, body: await response.json() };
}

/** Accepted by the node, and mined. */
async function confirm(rest: Rest, ...txs: readonly Tx[]): Promise<JsonObject[]> {
  for (let i = 0; i < txs.length; i += AT_ONCE) {
    await Promise.all(txs.slice(i, i + AT_ONCE).map((tx) => rest.broadcast(txToJson(tx, scheme))));
  }
  return Promise.all(txs.map(({ id }) => rest.mined(base58.encode(id))));
}

const guardTx = ({ publicKey, sign }: Key, script: Uint8Array): Tx => {
  const about = { name: 'guard', description: '', senderPublicKey: publicKey };
  const values = { ...about, script, fee: FEE, timestamp: Date.now() };
  return signedTx(setScript, 1, values, { sign }, scheme);
};

let count = 0;
/** A transfer with a proof that is no signature. */
const unsigned = (from: Key, to: Key): Tx =>
  transferTx(from, to.address, count++, Date.now(), NOBODY, scheme);

async function newBlock(rest: Rest): Promise<void> {
  const height = await rest.height();
  await eventually('a block', async () => ((await rest.height()) > height ? true : undefined));
}

t.test('one node', async (t) => {
  const node = await startDevNode(t);
  const rest = publicOf(node.rest);
  const [miner, ...strangers] = node.accounts.map(keyOf) as [Key, Key, Key, Key, Key];

  await t.test('records that share parts are compared', async (t) => {
    const [one, other] = strangers;
    const bomb = scriptOf(textOf(dearToRun[0]!.recipe), family.secureHash);
    await confirm(rest, guardTx(one, bomb));
    const [answer, height] = await Promise.all([
      post(rest, unsigned(one, other)),
      rest.get('/blocks/height'),
    ]);
    t.match(answer, {
      status: 400,
      body: {
        error: 306,
        message: `Error while executing account-script: The script needs more than ${RUN_UNITS_MAX} units`,
      },
    });
    t.equal(height.status, 200);
    await newBlock(rest);
  });

  await t.test('scripts that are dear to estimate', async (t) => {
    const [, one] = strangers;
    for (const { name, recipe } of dearToRead.slice(0, 2)) {
      const bytes = variants(recipe, family.secureHash)(1);
      const script = `base64:${Buffer.from(bytes).toString('base64')}`;
      const json = txToJson(guardTx(one, compiled('true')), scheme);
      t.match(await rest.post('/transactions/broadcast', { ...json, script }), {
        status: 400,
        body: { message: TOO_COMPLEX },
      });
      t.match(await postText(rest, '/utils/script/estimate', script), REFUSED, name);
    }
  });

  await t.test('sources that are dear to compile', async (t) => {
    for (const { name, recipe } of dearToCompile.slice(0, 3)) {
      const answer = await postText(rest, '/utils/script/compile', textOf(recipe));
      t.match(answer, { status: 400, body: { error: TOO_LARGE } }, name);
    }
  });

  await t.test('what no store can look up', async (t) => {
    const [, , , one] = strangers;
    const refusals = [
      [`isDefined(getInteger(tx.sender, "${'x'.repeat(5000)}"))`, /The key is too long/],
      ['isDefined(getInteger(Alias(""), "x"))', /not allowed by account-script/],
      ['wavesBalance(Alias("")) > 0', /Alias '' does not exist/],
      ['true', undefined],
    ] as const;
    for (const [condition, refusal] of refusals) {
      // Removing and changing the script is always permitted.
      const source = `match tx { case s: SetScriptTransaction => true case _ => ${condition} }`;
      await confirm(rest, guardTx(one, compiled(source)));
      const answer = await post(rest, unsigned(one, miner));
      if (refusal === undefined) t.match(answer, { status: 200 });
      else t.match(answer, { status: 400, body: { message: refusal } });
    }
    await newBlock(rest);
  });
});

const TOO_LARGE = /Script is too large: more than 16384 bytes/;
const TOO_COMPLEX = /Script is too complex: too many/;
const REFUSED = { status: 400, body: { error: TOO_COMPLEX } };

t.test('orders whose trader has a script', async (t) => {
  const node = await startDevNode(t, { round: '6s' });
  const rest = publicOf(node.rest);
  const [miner, buyer] = node.accounts.map(keyOf) as [Key, Key];
  const about = { reissuable: false, script: undefined, senderPublicKey: miner.publicKey };
  const gold = { name: 'gold', description: '', quantity: 10_000n, decimals: 0 };
  const values = { ...gold, ...about, fee: issue.fee, timestamp: Date.now() };
  const asset = signedTx(issue, 2, values, miner, scheme);
  await confirm(rest, asset);
  await confirm(rest, guardTx(buyer, compiled('true')));
  const traders = { matcher: miner, buyer, seller: miner, asset: asset.id };
  const trades = Array.from({ length: 2 * SCRIPT_RUNS_MAX + 50 }, (_, i) =>
    tradeTx(traders, Date.now() + i, NOBODY, scheme),
  );
  // Just after a block, so that more of them wait for the next one than it has room for.
  await newBlock(rest);
  const inBlocks = await confirm(rest, ...trades);
  for (const [height, { length }] of Map.groupBy(inBlocks, (tx) => tx['height'])) {
    t.ok(length <= SCRIPT_RUNS_MAX, `${length} in block ${String(height)}`);
  }
});

/** Of one account, while it waits for a block: fewer than the pool takes. */
const POSTED_MAX = 100;

t.test('two nodes, and an account that sets its script and removes it', async (t) => {
  const network = await startDevNetwork(t, ['--nodes', '2', '--round', '1s']);
  const rests = network.rests.map(publicOf) as [Rest, Rest];
  const [one, other] = network.accounts.slice(-2).map(keyOf) as [Key, Key];
  let accepted = 0;
  for (const source of ['true', undefined, 'true', undefined, 'true', undefined]) {
    const at = Date.now();
    const change = scriptTx(one, source, at, one, scheme);
    await rests[0].broadcast(txToJson(change, scheme));
    const isMined = async (): Promise<boolean> =>
      (await rests[0].get(`/transactions/info/${base58.encode(change.id)}`)).status === 200;
    for (let i = 0; i < POSTED_MAX && !(await isMined()); i++) {
      const { status, body } = await post(rests[i % 2]!, unsigned(one, other));
      if (status === 200) accepted++;
      else t.match(body, { message: /proof doesn't validate as signature/ });
    }
    await rests[0].mined(base58.encode(change.id));
  }
  t.ok(accepted > 0, `${accepted} of them were permitted for a time`);
  for (const rest of network.rests) {
    t.strictSame((await rest.get('/peers/blacklisted')).body, [], 'nobody is blamed');
    await newBlock(rest);
  }
  // The last blocks may still lose.
  const at = Math.min(...(await Promise.all(rests.map((rest) => rest.height())))) - 3;
  const [here, there] = await Promise.all(
    rests.map((rest) => rest.get(`/blocks/headers/at/${at}`)),
  );
  t.strictSame(here!.body, there!.body, 'one chain');
  await network.stop();
});
