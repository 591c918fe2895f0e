/** Typed access to test/vectors/finality.json, which was made without code of this project. */
import { readFileSync } from 'node:fs';
import { decodeHex } from '../../src/base/hex.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../src/crypto/families.ts';
import type { Checkpoint, Vote } from '../../src/finality/votes/vote.ts';
import type { VoterSets } from '../../src/finality/votes/voter-sets.ts';

interface CheckpointJson {
  readonly height: number;
  readonly id: string;
}

interface RefusedJson {
  readonly why: string;
  readonly bytesHex: string;
}

interface VectorFile {
  readonly genesisId: string;
  readonly voters: readonly { readonly publicKey: string; readonly address: string }[];
  readonly rules: readonly {
    readonly change: number;
    readonly current: readonly string[];
    readonly next: readonly string[] | null;
    readonly ruleHash: string;
  }[];
  readonly votes: readonly {
    readonly rule: number;
    readonly source: CheckpointJson;
    readonly target: CheckpointJson;
    readonly bytesHex: string;
    readonly signed: readonly {
      readonly address: string;
      readonly signature: string;
      readonly signedHex: string;
    }[];
  }[];
  readonly justifications: readonly {
    readonly vote: number;
    readonly voters: readonly string[];
    readonly voted: readonly string[];
    readonly bytesHex: string;
  }[];
  /** Header of version 3, the parent of the blocks. */
  readonly parentHeaderHex: string;
  readonly blocks: readonly {
    readonly transactions: readonly string[];
    readonly justification: string;
    readonly features: readonly number[];
    readonly parentHash: string;
    readonly bodyHash: string;
    readonly signedHex: string;
    readonly signature: string;
    readonly headerHex: string;
    readonly headerHash: string;
    readonly bytesHex: string;
  }[];
  readonly refusedVotes: readonly RefusedJson[];
  readonly refusedJustifications: readonly RefusedJson[];
}

const url = new URL('../vectors/finality.json', import.meta.url);
export const vectors: VectorFile = JSON.parse(readFileSync(url, 'utf8'));

export const scheme = createChainScheme(createFamily('curve25519'), 'T'.charCodeAt(0));

const checkpoint = ({ height, id }: CheckpointJson): Checkpoint => ({ height, id: decodeHex(id) });

export function setsOf(index: number): VoterSets<readonly Uint8Array[]> {
  const { change, current, next } = vectors.rules[index]!;
  const addresses = (texts: readonly string[]) => texts.map(scheme.addressFromText);
  return {
    change,
    current: addresses(current),
    next: next === null ? undefined : { voters: addresses(next), since: 1 },
  };
}

export function voteOf(index: number): Vote {
  const { rule, source, target } = vectors.votes[index]!;
  return {
    genesis: decodeHex(vectors.genesisId),
    ruleHash: decodeHex(vectors.rules[rule]!.ruleHash),
    source: checkpoint(source),
    target: checkpoint(target),
  };
}
