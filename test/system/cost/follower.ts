/** A second node, which takes the whole chain of the target and then each of its blocks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadSettings } from '../../http-threads.ts';
import { startNode, temporaryFolder } from '../e2e/dev-node.ts';
import { OWNER, writeKeystore } from '../e2e/network-folder.ts';
import { eventually, type Scope } from '../e2e/process.ts';
import type { Measured } from './attack.ts';
import { peers, type Target, watched } from './target.ts';

const CAUGHT_UP_MS = 300_000;
const FOLLOWING_BLOCKS = 4;
/** A member that attacks nobody. */
const MEMBER = peers.at(-1)!;

/** Resolves before the follower has any block. */
async function startFollower(scope: Scope, target: Target) {
  const dir = temporaryFolder(scope);
  const text = readFileSync(target.config, 'utf8');
  const [, home] = /^ {2}directory = "(.*)"$/m.exec(text) ?? [];
  const config = join(dir, 'node.conf');
  const own = text
    .replaceAll(home!, dir)
    .replace(`owner-address = "${OWNER.address}"`, `owner-address = "${MEMBER.address}"`);
  writeFileSync(config, own);
  await writeKeystore(join(dir, 'keystore.dat'), [MEMBER]);
  return startNode(scope, config, {
    set: [
      ...threadSettings,
      'miner.enable=no',
      `network.known-peers=["${target.host}:${target.peerPort}"]`,
    ],
  });
}

/** What its clients see while it takes the blocks that the other attacks have left. */
export async function followed(scope: Scope, target: Target): Promise<Measured> {
  const follower = await startFollower(scope, target);
  const { rest, pid, kill } = follower;
  const seen = watched(scope, rest.url, pid);
  const height = await target.rest.height();
  const reaches = (wanted: number, waitMs?: number) =>
    eventually(
      `block ${wanted}`,
      async () => ((await rest.height()) >= wanted ? true : undefined),
      waitMs,
    );
  await reaches(height, CAUGHT_UP_MS);
  await reaches(height + FOLLOWING_BLOCKS);
  const measured = await seen();
  await kill();
  return { ...measured, answers: `${height} blocks, and ${FOLLOWING_BLOCKS} more` };
}
