// `network add|remove|replace`: what they refuse, and that they send nothing of a change that is wrong. The
// way of a change through a network is in test/system/e2e/network-guide.test.ts.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  othersVote,
  type Stage,
  sendStages,
} from '../../../../src/cli/commands/network/membership.ts';
import type { Client } from '../../../../src/rest-framework/client.ts';
import { startDevNode, temporaryFolder } from '../../../system/e2e/dev-node.ts';
import { jsonLines, run } from '../../run.ts';
import { answerOf, drafted, joined, merged, requested, requestOf } from './folders.ts';

t.setTimeout(240_000);

const folder = temporaryFolder(t);
const [network, foreign, draft] = ['network', 'foreign', 'draft'].map((name) =>
  join(folder, name),
) as [string, string, string];
const { requests } = await requested(network, 1);
answerOf(await merged(network, requests));
await requested(foreign, 1);
await drafted(draft, 1);
const alpha = join(network, 'alpha');
const newcomers = join(folder, 'newcomers');
answerOf(
  await run(['network', 'init', '--from', alpha, '--org', 'epsilon=h5', '--out', newcomers]),
);
const { address, publicKey } = answerOf(await joined(join(newcomers, 'epsilon')));
const request = requestOf(newcomers, 'epsilon');
const node = await startDevNode(t, { round: '500ms' });
const at = (...words: readonly string[]) =>
  run(['network', ...words, '--url', node.rest.url, '--api-key', node.apiKey]);
const { accounts } = node;
const owner = accounts[0]!;

t.test('requests of others are refused before anything is asked', async (t) => {
  const forged = join(folder, 'forged.json');
  writeFileSync(forged, readFileSync(request, 'utf8').replace('"epsilon"', '"omega"'));
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['add', alpha, requestOf(foreign, 'alpha')], /made for another network/],
    [['add', alpha, forged], /not signed by its key/],
    [['add', alpha, join(folder, 'none')], /Cannot read/],
    [['add', join(draft, 'alpha'), request], /is a draft/],
    [['replace', alpha, String(address), request], /the key that it would replace/],
    [['replace', alpha, String(publicKey), request], /the key that it would replace/],
    [['replace', alpha, owner.address, forged], /not signed by its key/],
  ];
  // Nobody listens there.
  for (const [words, why] of wrong) {
    const refused = await run(['network', ...words, '--url', 'http://127.0.0.1:1']);
    t.match(refused, { code: 1, stdout: '', stderr: why }, words.join(' '));
  }
});

t.test('what is printed without a sender', async (t) => {
  const added = await at('add', alpha, request, '--role', 'miner', 'issuer');
  const plain = jsonLines((await at('add', alpha, request)).stdout);
  t.match(plain, [{ type: 111 }, { type: 102, role: 'miner' }], 'the default');
  t.match(jsonLines(added.stdout), [
    { type: 111, targetPubKey: publicKey, nodeName: 'epsilon', opType: 'add' },
    { type: 102, target: address, opType: 'add', role: 'miner' },
    { type: 102, target: address, opType: 'add', role: 'issuer' },
  ]);
  t.match(added.stderr, /Not sent: --sender/);
  const replaced = jsonLines((await at('replace', alpha, owner.address, request)).stdout);
  const [first, ...rest] = replaced;
  t.match(first, { type: 111, opType: 'add', targetPubKey: publicKey });
  t.match(replaced.at(-1), { type: 111, opType: 'remove', targetPubKey: owner.publicKey });
  const roles = (opType: string) =>
    rest.filter((tx) => tx['type'] === 102 && tx['opType'] === opType).map(({ role }) => role);
  t.strictSame(roles('add').sort(), [...owner.roles].sort());
  t.strictSame(roles('remove'), roles('add'));
  const firstGone = rest.findIndex(({ opType }) => opType === 'remove');
  t.ok(
    rest.slice(firstGone).every(({ opType }) => opType === 'remove'),
    'the old key goes last',
  );
  const stranger = await at('remove', String(address));
  t.match(stranger, { code: 1, stdout: '', stderr: /of a registered node/ });
});

t.test('sent: in order, each once', async (t) => {
  // Another miner, which never starts, would leave this network without a majority.
  const add = ['add', alpha, request, '--role', 'issuer', '--sender', owner.address];
  const sent = await at(...add);
  t.match(
    jsonLines(sent.stdout),
    [
      { type: 111, nodeName: 'epsilon', height: Number },
      { type: 102, role: 'issuer', height: Number },
    ],
    sent.stderr,
  );
  const again = await at(...add);
  t.match(again, { code: 0, stdout: '', stderr: /has all of it already/ });
  const more = await at(...add, '--role', 'issuer', 'dex');
  t.match(jsonLines(more.stdout), [{ type: 102, role: 'dex' }]);
  const removed = await at('remove', String(publicKey), '--sender', owner.address);
  t.match(
    jsonLines(removed.stdout),
    [
      { type: 102, opType: 'remove' },
      { type: 102, opType: 'remove' },
      { type: 111, opType: 'remove', height: Number },
    ],
    removed.stderr,
  );
  const last = await at('remove', owner.address, '--sender', owner.address);
  t.match(last, { code: 1, stdout: '', stderr: /cannot remove itself/ });
  const stranger = await at(...add.slice(0, -1), accounts[1]!.address);
  t.match(stranger, { code: 1, stdout: /"error"/ });
  copyFileSync(request, join(folder, 'copy.json'));
  t.match(await at('add', alpha, join(folder, 'copy.json'), '--role', 'banned'), { code: 2 });
});

t.test('repeated while what was sent is not final yet', async (t) => {
  const heard: string[] = [];
  let finalHeight = 3;
  const answers: Record<string, () => unknown> = {
    '/finality': () => ({ isActive: true, finalHeight: finalHeight++, voters: [], next: [] }),
    '/transactions/signAndBroadcast': () => ({ id: 'one' }),
    '/transactions/info/{id}': () => ({ id: 'one', height: 6 }),
  };
  const call = async ({ path }: { path: string }): Promise<unknown> => {
    heard.push(`${path.split('/')[1]} ${finalHeight}`);
    return answers[path]!();
  };
  // A run before this one has sent the first stage, which is in block 6.
  const stages: Stage[] = [{ txs: [] }, { txs: [{ type: 102 }], without: 'old' }];
  await sendStages({ call } as unknown as Client, stages, {}, { height: 6, seconds: 60 });
  const [firstSent] = heard.filter((one) => one.startsWith('transactions'));
  t.ok(Number(firstSent?.split(' ')[1]) > 6, `sent when ${firstSent}`);
});

t.test('one key is replaced after the other', async (t) => {
  const names = (...addresses: string[]) => addresses.map((address) => ({ address }));
  const roles = (role: string) => ({ roles: [{ role }] });
  const client = (isActive: boolean, ...voters: string[]) => {
    const call = async (
      { path }: { path: string },
      { params }: { params?: { address: string } } = {},
    ): Promise<unknown> => {
      if (path === '/finality') return { isActive, voters: names(...voters), next: names('b') };
      if (path === '/permissions/{address}') {
        const { address } = params!;
        if (address === 'outlaw') return { roles: [{ role: 'miner' }, { role: 'banned' }] };
        return roles(address === 'observer' ? 'issuer' : 'miner');
      }
      t.equal(path, '/peers/allowedNodes');
      return { allowedNodes: names('a', 'b', 'outlaw', 'newcomer', 'old', 'observer') };
    };
    return { call } as unknown as Client;
  };
  await t.rejects(othersVote(client(true, 'a', 'b', 'old'), ['old', 'new']), {
    message: /^newcomer is a miner and does not vote yet/,
  });
  await t.resolves(othersVote(client(true, 'a', 'newcomer', 'old'), ['old', 'new']));
  await t.resolves(othersVote(client(true, 'a', 'b', 'old'), ['old', 'newcomer']), 'repeated');
  await t.resolves(othersVote(client(false), ['old', 'new']), 'nobody votes');
  await t.resolves(othersVote(client(true, 'a'), ['old', 'new']), 'the old key does not vote');
});
