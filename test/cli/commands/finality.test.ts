// What users see of final blocks: a transfer that waits for one, and a proof that is checked without a chain.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../src/adapters/system.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { decodeNote } from '../../../src/finality/note-file.ts';
import { evidenceToJson } from '../../../src/finality/votes/evidence-json.ts';
import { mayVote } from '../../../src/finality/votes/links.ts';
import { type SignedVote, voteBytes } from '../../../src/finality/votes/vote.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { family } from '../../family.ts';
import { type DevNode, startDevNode } from '../../system/e2e/dev-node.ts';
import { run } from '../run.ts';

/** The network votes for the feature, and it is active from height 8 on. */
const FUNCTIONALITY = 'NODE_BLOCKCHAIN_CUSTOM_FUNCTIONALITY';
const env = {
  NODE_FEATURES_SUPPORTED: `[${feature.finality}]`,
  [`${FUNCTIONALITY}_FEATURE_CHECK_BLOCKS_PERIOD`]: '4',
  NODE_SYNCHRONIZATION_MAX_ROLLBACK: '2',
  [`${FUNCTIONALITY}_BLOCKS_FOR_FEATURE_ACTIVATION`]: '3',
};

interface State {
  readonly finalHeight: number;
  readonly finalRuleHash: string;
}

/** Whether answers say that a block, or a transaction in it, is final. */
async function shows(t: Test, { rest }: DevNode, { final, txId }: { final: number; txId: string }) {
  const get = async (path: string) => (await rest.get(path)).body as Record<string, unknown>;
  const { height } = await get('/blocks/height');
  const places = ['/blocks/at', '/blocks/headers/at'];
  for (const place of places) t.match(await get(`${place}/${final}`), { final: true });
  t.match(await get(`/transactions/info/${txId}`), { final: true });
  t.match(await get(`/blocks/headers/seq/${final}/${final}`), [{ final: true }]);
  t.match(await get(`/blocks/seq/${final}/${final}`), [{ final: true }]);
  const { final: isLastFinal, finalHeight } = await get('/blocks/last');
  t.equal(isLastFinal, false, 'nobody has voted on a child of the last block');
  t.ok(Number(finalHeight) >= final && Number(finalHeight) < Number(height) + 10);
  t.match(await get('/blocks/headers/last'), { final: false });
}

/** The command says from where on a key may vote whose note is lost. */
async function resumes(t: Test, { dir, chainId }: DevNode, config: string) {
  const scheme = createChainScheme(family, chainId.charCodeAt(0));
  const file = join(dir, 'finality-note');
  const resume = (after: number) =>
    run(['finality', 'resume', config, '--after', String(after)], { env });
  const kept = await resume(9000);
  t.equal(kept.code, 1);
  t.match(kept.stderr, /nothing is lost/);
  const before = readFileSync(file);
  const [genesis, voter] = [before.subarray(1, 33), before.subarray(33, 33 + scheme.publicKeySize)];
  writeFileSync(file, '');
  const low = await resume(2);
  t.equal(low.code, 1, 'the key may have voted for each block of the chain');
  t.match(low.stderr, /name that height, or more/);
  t.match(await resume(1_000_000), { code: 1, stderr: /name a lower height/ });
  const empty = ['--set', `node.data-directory=${join(dir, 'elsewhere')}`];
  const bare = await run(['finality', 'resume', config, '--after', '9000', ...empty], { env });
  t.match(bare, { code: 1, stderr: /there is no store/ });
  t.notOk(existsSync(join(dir, 'elsewhere')), 'none is made');
  const resumed = await resume(9000);
  t.equal(resumed.code, 0, resumed.stderr);
  const { link, vote } = decodeNote(readFileSync(file), { genesis, voter }, scheme);
  t.strictSame({ link, vote }, { link: { source: 9000, target: 9000 }, vote: undefined });
  t.notOk(mayVote(link, { source: 8999, target: 9001 }), 'no vote surrounds a lost one');
  t.ok(mayVote(link, { source: 9000, target: 9001 }));
  t.match(await resume(9001), { code: 1, stderr: /resumes after 9000 already/ });
  writeFileSync(file, before);
}

/** A note that was put aside is no reason to begin as a key that never voted. */
async function beginsOnce(t: Test, { dir }: DevNode, config: string) {
  const [file, aside] = ['', '.old'].map((end) => join(dir, `finality-note${end}`)) as [
    string,
    string,
  ];
  const init = () => run(['finality', 'init', config], { env });
  t.match(await init(), { code: 1, stderr: /exists already/ });
  renameSync(file, aside);
  const refused = await init();
  t.match(refused, {
    code: 1,
    stderr: /has a vote of this key for block \d+.*put it back.*resume/,
  });
  t.notOk(existsSync(file));
  const empty = ['--set', `node.data-directory=${join(dir, 'elsewhere')}`];
  t.match(
    await run(['finality', 'init', config, ...empty], { env }),
    { code: 0 },
    'a chain without votes',
  );
  const bare = await run(['finality', 'resume', config, '--after', '9000', ...empty], { env });
  t.match(bare, { code: 1, stderr: /let the node fetch the chain first/ });
  renameSync(aside, file);
}

async function showsLies(t: Test, { dir, chainId }: DevNode, config: string) {
  const scheme = createChainScheme(family, chainId.charCodeAt(0));
  const genesis = readFileSync(join(dir, 'finality-note')).subarray(1, 33);
  const { publicKey: voter, privateKey } = family.keyPairFromSeed(new Uint8Array(32).fill(7));
  const voteFor = (target: number, fill: number): SignedVote => {
    const vote = {
      genesis,
      ruleHash: new Uint8Array(32),
      source: { height: 1, id: genesis },
      target: { height: target, id: new Uint8Array(32).fill(fill) },
    };
    const signature = family.sign(privateKey, voteBytes(vote, scheme), systemRandom);
    return { ...vote, voter, signature };
  };
  const file = join(dir, 'evidence.json');
  const verify = (first: SignedVote, second: SignedVote) => {
    writeFileSync(file, JSON.stringify(evidenceToJson([first, second], scheme)));
    return run(['finality', 'verify-evidence', config, file], { env });
  };
  const lie = await verify(voteFor(5, 1), voteFor(5, 2));
  t.equal(lie.code, 0, lie.stderr);
  const address = scheme.addressToText(scheme.addressOf(voter));
  const second = { targetHeight: 5, sourceHeight: 1 };
  t.match(JSON.parse(lie.stdout), { isEvidence: true, address, kind: /one-height/, second });
  t.equal((await verify(voteFor(5, 1), voteFor(6, 2))).code, 1, 'two votes that fit');
  const forged = { ...voteFor(5, 2), signature: voteFor(6, 2).signature };
  t.match((await verify(voteFor(5, 1), forged)).stderr, /no evidence/);
  const other = { ...voteFor(5, 1), genesis: new Uint8Array(32) };
  t.match((await verify(other, voteFor(5, 2))).stderr, /another network/);
  const pairs = async (...all: readonly (readonly [SignedVote, SignedVote])[]) => {
    const input = JSON.stringify(all.map((pair) => evidenceToJson(pair, scheme)));
    return run(['finality', 'verify-evidence', config, '-'], { env, input });
  };
  const lies = await pairs([voteFor(5, 1), voteFor(5, 2)], [voteFor(6, 1), voteFor(6, 2)]);
  t.match(JSON.parse(lies.stdout), [{ second }, { second: { targetHeight: 6 } }]);
  const one = await pairs([voteFor(5, 1), voteFor(5, 2)], [voteFor(5, 1), voteFor(6, 2)]);
  t.match(one, { code: 1, stderr: /Pair 2: The votes are no evidence/ });
  t.match(await pairs(), { code: 1, stderr: /no votes/ });
  writeFileSync(file, ' '.repeat(1024 * 1024 + 1));
  const long = await run(['finality', 'verify-evidence', config, file], { env });
  t.match(long, { code: 1, stderr: /more than 1048576 bytes/ });
  writeFileSync(file, '{"first":1}');
  t.match((await run(['finality', 'verify-evidence', config, file])).stderr, /no two votes/);
}

t.test('a node of a network that votes', async (t) => {
  const node = await startDevNode(t, { round: '200ms', finality: false, env });
  const state = async () => (await node.rest.get('/finality')).body as unknown as State;
  const finalAbove = async (height: number): Promise<State> => {
    for (;;) {
      const now = await state();
      if (now.finalHeight > height) return now;
      await sleep(100);
    }
  };
  const { finalHeight: from, finalRuleHash } = await finalAbove(8);
  const cli = { env: { PLATFORM_NODE_URL: node.rest.url, PLATFORM_NODE_API_KEY: node.apiKey } };
  const [owner, other] = [node.accounts[0]!.address, node.accounts[1]!.address];
  const sent = await run(
    [
      ...['tx', 'send', 'transfer', '--sender', owner, '--recipient', other, '--amount', '1'],
      ...['--wait-final', '60'],
    ],
    cli,
  );
  t.equal(sent.code, 0, sent.stderr);
  const { height } = JSON.parse(sent.stdout) as { height: number };
  t.ok(height <= (await state()).finalHeight, 'its block is final when the command ends');
  await finalAbove(from + 3);
  const { id } = JSON.parse(sent.stdout) as { id: string };
  await shows(t, node, { final: from, txId: id });
  const { body: header } = await node.rest.get(`/blocks/headers/at/${from + 2}`);
  const { signature } = header as { signature: string };
  const { status, body: proof } = await node.rest.get(`/blocks/${signature}/proof?from=${from}`);
  t.equal(status, 200);
  const file = join(node.dir, 'proof.json');
  writeFileSync(file, JSON.stringify(proof));
  await node.stop();

  const config = join(node.dir, 'node.conf');
  await resumes(t, node, config);
  await beginsOnce(t, node, config);
  await showsLies(t, node, config);
  const checkpoint = [
    ...['--set', `finality.checkpoint-height=${from}`],
    ...['--set', `finality.checkpoint-rule-hash=${finalRuleHash}`],
  ];
  const verify = (...args: readonly string[]) => run(['block', 'verify-proof', config, ...args]);
  const proved = await verify(file, ...checkpoint, '--id', signature);
  t.equal(proved.code, 0, proved.stderr);
  const answer = JSON.parse(proved.stdout);
  t.match(answer, { isFinal: true, height: from + 2, id: signature });
  t.match(answer.checkpoint, { height: answer.finalHeight, ruleHash: finalRuleHash });
  const wrong = await verify(file, ...checkpoint, '--id', signature.slice(1));
  t.equal(wrong.code, 1);
  t.match(wrong.stderr, /of another block/);
  const nobody = await verify(file);
  t.equal(nobody.code, 1);
  t.match(nobody.stderr, /checkpoint-height/);
  const text = readFileSync(file, 'utf8');
  const { headers } = JSON.parse(text);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(text), headers: headers.slice(1) }));
  const short = await verify(file, ...checkpoint, '--id', signature);
  t.equal(short.code, 1);
  writeFileSync(file, text.replace('"steps":[', '"steps":['.concat('{},')));
  const damaged = await verify(file, ...checkpoint);
  t.equal(damaged.code, 1);
  t.match(damaged.stderr, /no proof/);
});

t.test('a key of a chain without the feature', async (t) => {
  const node = await startDevNode(t, { round: '200ms', finality: false });
  const height = async () => (await node.rest.get('/blocks/height')).body as { height: number };
  while ((await height()).height < 2) await sleep(100);
  await node.stop();
  const resume = ['finality', 'resume', join(node.dir, 'node.conf'), '--after', '900'];
  t.match(await run(resume), { code: 1, stderr: /feature 1004 is not approved/ });
});
