/** `platform-node finality`: the note of a voter, and evidence (finality.md#notes, #contradictions). */

import { type Command, InvalidArgumentError } from 'commander';
import type { Note, NoteOwner } from '../../finality/note-file.ts';
import type { SetFlags } from '../config-file.ts';
import { CliError } from '../terminal/exit.ts';
import { withChain } from './chain/chain.ts';
import { setOption } from './config.ts';

/** A voter that waits for a block so far above the tip has most likely been given a wrong height. */
const AHEAD_MAX = 10_000;
/** With room for as many pairs as a node keeps. */
const EVIDENCE_BYTES_MAX = 1024 * 1024;

const GO_ON =
  "the node votes again once a block is final that is far enough above, or after 'platform-node finality resume'";

export function register(command: Command): void {
  command
    .command('init <config>')
    .description(
      'say that the key of this node has never voted on blocks of its network, so that it begins to; ' +
        'for a key that may have voted this is a lie, which can make two blocks final',
    )
    .addOption(setOption())
    .action(init);
  command
    .command('resume <config>')
    .description(
      'let a key vote again whose note is lost: above a height above which it has never voted; for a key that has, this ' +
        'is a lie, which can make two blocks final',
    )
    .requiredOption('--after <height>', 'the key has voted for no block above it', heightFrom)
    .addOption(setOption())
    .action(resume);
  command
    .command('verify-evidence <config> <file>')
    .description(
      "check the answer of GET /finality/evidence, or one pair of it, without a chain; '-' reads stdin; fails where a pair " +
        'shows no lie',
    )
    .addOption(setOption())
    .action(verifyEvidence);
}

async function init(path: string, flags: SetFlags) {
  const { FIRST_NOTE } = await import('../../finality/note-file.ts');
  const { printJson } = await import('../terminal/output.ts');
  // The note of a new node comes before its first start.
  await withNote(path, { ...flags, create: true }, ({ note, files, lastVote, write }) => {
    // An empty one says that this key has voted elsewhere: a second first note would make it a liar.
    if (files.read(note) !== undefined) {
      throw new CliError(`'${note}' exists already; where it is empty, ${GO_ON}`);
    }
    const voted = lastVote();
    if (voted !== undefined) {
      throw new CliError(
        `the chain has a vote of this key for block ${voted}, so its note is lost or was put aside: put it back where it is the ` +
          `newest one; otherwise ${GO_ON}`,
      );
    }
    write(FIRST_NOTE);
    printJson({ note });
  });
}

interface ResumeFlags extends SetFlags {
  readonly after: number;
}

async function resume(path: string, flags: ResumeFlags) {
  const { printJson } = await import('../terminal/output.ts');
  const { after } = flags;
  await withNote(path, flags, ({ note, height, isVotedOn, read, write }) => {
    if (height === 1) {
      throw new CliError('the chain has its first block alone: let the node fetch the chain first');
    }
    if (!isVotedOn) {
      throw new CliError(
        'feature 1004 is not approved in this chain, so nobody votes: ask again once it is',
      );
    }
    requireLost(note, read());
    // This key may have voted for each block of its chain.
    if (after < height)
      throw new CliError(`the chain has ${height} blocks: name that height, or more`);
    if (after > height + AHEAD_MAX) {
      throw new CliError(
        `${after} is more than ${AHEAD_MAX} above the last block, ${height}: name a lower height`,
      );
    }
    // Whatever was signed has a lower target, so no vote with this source contradicts it.
    write({ link: { source: after, target: after }, vote: undefined });
    printJson({ note, after });
  });
}

function requireLost(path: string, note: Note | undefined): void {
  if (note === undefined) return;
  const { link, vote } = note;
  if (vote === undefined && link.source > 0) {
    throw new CliError(`'${path}' resumes after ${link.source} already`);
  }
  const has = vote === undefined ? 'says that this key has never voted' : 'has its last vote';
  throw new CliError(`'${path}' ${has}, so nothing is lost`);
}

interface NoteFlags extends SetFlags {
  /** Makes the store where there is none. */
  readonly create?: true;
}

interface OpenNote {
  /** Path of the note. */
  readonly note: string;
  readonly files: typeof import('../../adapters/files.ts')['files'];
  /** Of the last block. */
  readonly height: number;
  /** The feature is approved in this chain, or its configuration begins with it. */
  readonly isVotedOn: boolean;
  /** Undefined where it is lost. Throws StartError where it is damaged. */
  readonly read: () => Note | undefined;
  readonly write: (note: Note) => void;
  /** Height of the last block for which the chain carries a vote of the key. */
  readonly lastVote: () => number | undefined;
}

/** The note of the owner of a node that is not running. */
async function withNote(path: string, flags: NoteFlags, job: (opened: OpenNote) => void) {
  const { files } = await import('../../adapters/files.ts');
  const { headerHash } = await import('../../block/header.ts');
  const { headerRowAt } = await import('../../chain/store/stored-blocks.ts');
  const { lastCarriedVote } = await import('../../chain/finality/carried-votes.ts');
  const { encodeNote } = await import('../../finality/note-file.ts');
  const { participantOf } = await import('../../ledger/participants.ts');
  const { notePath, readVoterNote } = await import('../../node/finality/voter-note.ts');
  const { activationHeight, feature } = await import('../../tx/rules/features.ts');
  await withChain(path, flags, async (blockchain, { config, rules }) => {
    const { view } = blockchain;
    const { scheme } = view;
    const note = notePath(config);
    const noteOwner = (): NoteOwner => {
      const owner = participantOf(view, scheme.addressFromText(config.ownerAddress));
      if (owner === undefined) {
        throw new CliError('the owner is no participant of this chain, so its key is not known');
      }
      const genesis = headerHash(headerRowAt(view, 1)!.header, scheme);
      return { genesis, voter: owner.publicKey };
    };
    job({
      note,
      files,
      height: blockchain.tip().height,
      isVotedOn: activationHeight(view, feature.finality, rules) !== undefined,
      read: () => readVoterNote(files, note, noteOwner(), scheme),
      write: (content) =>
        files.replace(note, encodeNote(content, noteOwner(), scheme), { secret: true }),
      lastVote: () => lastCarriedVote(view, noteOwner().voter),
    });
  });
}

async function verifyEvidence(path: string, file: string, flags: SetFlags): Promise<void> {
  const { loadConfig } = await import('../config-file.ts');
  const { checkEvidence } = await import('../check-evidence.ts');
  const { readAll } = await import('../terminal/lines.ts');
  const { printJson } = await import('../terminal/output.ts');
  const { config } = await loadConfig(path, flags);
  printJson(checkEvidence(config, await readAll(file, EVIDENCE_BYTES_MAX)));
}

/** A height above which a key has never voted. */
export function heightFrom(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('expected a height');
  return Number(text);
}
