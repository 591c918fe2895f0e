// The voter of a network is killed again and again as soon as its note is written, which is before the vote
// leaves. Its votes never contradict each other, what it has shown as final stays, and finality goes on.
// VOTE_KILLS sets the number of kills.
import { existsSync, readFileSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { decodeNote, type Note } from '../../../src/finality/note-file.ts';
import { areContradictory } from '../../../src/finality/votes/evidence.ts';
import { family } from '../../family.ts';
import { type DevNode, startDevNode, temporaryFolder } from '../e2e/dev-node.ts';

const KILLS = Number(process.env['VOTE_KILLS'] ?? 6);
const KILL_MS_MAX = 60_000;
t.setTimeout(120_000 + 2 * KILLS * KILL_MS_MAX);

const noteFile = ({ dir }: DevNode): string => join(dir, 'finality-note');

/** Resolves with the next note in place. */
const nextNote = (node: DevNode): Promise<void> =>
  new Promise((resolve) => {
    const watcher = watch(dirname(noteFile(node)), (_event, name) => {
      if (name !== 'finality-note') return;
      watcher.close();
      resolve();
    });
  });

t.test(`${KILLS} kills between note and vote`, async (t) => {
  let node = await startDevNode(t, { dir: join(temporaryFolder(t), 'dev') });
  const scheme = createChainScheme(family, node.chainId.charCodeAt(0));
  const notes: Note[] = [];
  const finals = new Map<number, string>();
  const read = (): Note | undefined => {
    const bytes = readFileSync(noteFile(node));
    const genesis = bytes.subarray(1, 33);
    const voter = bytes.subarray(33, 33 + scheme.publicKeySize);
    return decodeNote(bytes, { genesis, voter }, scheme);
  };
  const final = async (): Promise<number> => {
    const { body } = await node.rest.get('/blocks/final');
    const { height, signature } = body as { height?: number; signature: string };
    if (height === undefined) return 0;
    t.equal(finals.get(height) ?? signature, signature, `block ${height} stays`);
    finals.set(height, signature);
    return height;
  };
  for (let kill = 0; kill < KILLS; kill++) {
    for (let votes = 0; votes < 3; votes++) await nextNote(node);
    await node.kill9();
    t.ok(existsSync(noteFile(node)));
    notes.push(read()!);
    node = await node.restart();
    await final();
  }
  for (const [i, { link, vote }] of notes.entries()) {
    const before = notes[i - 1];
    if (before === undefined) continue;
    t.ok(link.target >= before.link.target && link.source >= before.link.source);
    const isLie = vote && before.vote && areContradictory(vote, before.vote);
    t.notOk(isLie && link.target !== before.link.target, 'no contradiction');
  }
  const height = await final();
  while ((await final()) < height + 3) await nextNote(node);
  for (const [at, signature] of finals) {
    const { body } = await node.rest.get(`/blocks/headers/at/${at}`);
    t.equal((body as { signature: string }).signature, signature);
  }
  const { body } = await node.rest.get('/finality');
  t.match(body, { isActive: true, ownVotes: 'voting', waits: false });
  t.strictSame((body as JsonObject)['contradictions'], []);
  await node.stop();
});
