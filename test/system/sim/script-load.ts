/**
 * Users of a simulation whose accounts and assets get scripts and lose them, and who send transactions
 * that only a script accepts: with proofs that nobody made, or somebody else, or none.
 */
import { equal } from '../../../src/base/bytes.ts';
import { provenOf } from '../../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { type Account, account, family, miners, scheme } from '../../chain/chain-harness.ts';
import type { Attempt, Scene } from '../../generators/actions.ts';
import type { Rng } from '../../generators/random.ts';
import {
  accountScripts,
  anyProofs,
  assetScripts,
  garbage,
  type Proofs,
  reproved,
  ScriptedSender,
  signedBy,
} from '../../generators/scripted.ts';

/** Their scripts change at random. */
const actors = ['dora', 'erik', 'fred'].map(account);
/** Only an episode (script-episodes.ts) changes the scripts of these. */
export const players = [account('gina'), account('hugo')] as const;
const issuer = account('an issuer of guarded assets');
const dex = account('an exchange of scripted accounts');
export const scriptedAccounts: readonly Account[] = [...actors, ...players, issuer, dex];

const LATER_MS_MAX = 20_000;

export class ScriptLoad {
  readonly sender = new ScriptedSender(scheme);
  private readonly rng: Rng;
  private readonly scene: Pick<Scene, 'contracts'>;
  private readonly assets: Uint8Array[] = [];
  /** The number of preparations that were accepted. */
  private prepared = 0;
  private twin: Tx | undefined;

  constructor(rng: Rng, scene: Pick<Scene, 'contracts'>) {
    this.rng = rng;
    this.scene = scene;
  }

  next(now: number): Attempt {
    const { rng, twin } = this;
    this.twin = undefined;
    if (twin !== undefined) return { tx: twin };
    const prepared = rng.chance(2) ? this.preparation(now) : undefined;
    if (prepared !== undefined) return prepared;
    const [from, other] = [rng.pick(actors), rng.pick(actors)];
    const tx = this.any(from, other, now);
    // Another client has the same transaction with other proofs.
    if (rng.chance(6)) this.twin = reproved(tx, anyProofs(rng, from, other), scheme);
    return { tx };
  }

  /** What a script that lets everything pass lets pass, signed by nobody. */
  unsignedOf(from: Account, at: number): Tx {
    const { rng, sender, assets } = this;
    const proofs = garbage(rng, rng.pick([1, 1, 8]));
    const contract = this.contract();
    const kind = rng.below(8);
    if (kind === 0 && contract !== undefined) return sender.call(from, contract, at, proofs);
    if (kind === 1 && assets.length > 0) {
      return sender.transfer(from, issuer, at, proofs, rng.pick(assets));
    }
    if (kind === 2 && assets.length > 0) return this.trade(from, proofs, at);
    return sender.transfer(from, rng.pick(actors), at, proofs);
  }

  /** The same of anybody, whose script may refuse it. */
  forged(now: number): Tx {
    return this.unsignedOf(this.rng.pick([...actors, ...players]), now);
  }

  private any(from: Account, other: Account, now: number): Tx {
    const { rng, sender, assets } = this;
    const at = now + (rng.chance(2) ? rng.below(LATER_MS_MAX) : 0);
    const proofs = rng.chance(4) ? signedBy(from) : anyProofs(rng, from, other);
    const script = rng.pick([undefined, undefined, ...Object.values(accountScripts)]);
    const contract = this.contract();
    const kind = rng.below(12);
    if (kind < 3) return sender.setScript(from, script, now);
    if (kind === 3) return sender.setScript(from, script, at, proofs);
    if (kind === 4) return sender.data(from, other, at, proofs);
    if (kind === 5 && contract !== undefined) return sender.call(from, contract, at, proofs);
    if (kind === 6 && assets.length > 0) {
      const [, guarded = assets[0]!] = assets;
      const to = rng.pick(Object.values(assetScripts));
      return sender.setAssetScript(issuer, guarded, to, now);
    }
    if (kind < 9 && assets.length > 0) {
      return sender.transfer(from, other, at, proofs, rng.pick(assets));
    }
    if (kind === 9 && assets.length > 0) return this.trade(from, proofs, at);
    return sender.transfer(from, other, at, proofs);
  }

  /** The account sells to somebody, or buys of somebody, with an order of these proofs. */
  private trade(from: Account, proofs: Proofs, at: number): Tx {
    const { rng, sender, assets } = this;
    const one = { of: from, proofs };
    const two = { of: issuer, proofs: signedBy(issuer) };
    const [buy, sell] = rng.chance(2) ? [one, two] : [two, one];
    return sender.trade(dex, rng.pick(assets), buy, sell, at);
  }

  private contract(): Scene['contracts'][number] | undefined {
    const { contracts } = this.scene;
    return contracts.length === 0 ? undefined : this.rng.pick(contracts);
  }

  /** The roles and the assets that trades need, one after the other. */
  private preparation(now: number): Attempt | undefined {
    const { rng, sender, assets } = this;
    const miner = rng.pick(miners);
    const holders = [...actors, ...players];
    const steps: readonly (() => Tx | undefined)[] = [
      () => sender.permit(miner, issuer, 'issuer', now),
      () => sender.permit(miner, dex, 'dex', now),
      () => sender.permit(miner, issuer, 'contract_developer', now),
      () => sender.issue(issuer, undefined, now),
      () => sender.issue(issuer, assetScripts.anything, now),
      () => assets[0] && sender.share(issuer, holders, assets[0], now),
      () => assets[1] && sender.share(issuer, holders, assets[1], now),
    ];
    const tx = steps[this.prepared]?.();
    if (tx === undefined) return undefined;
    const step = this.prepared;
    const accepted = (): void => {
      if (this.prepared !== step) return;
      this.prepared++;
      if (tx.def.name === 'IssueTransaction') assets.push(tx.id);
    };
    return { tx, accepted };
  }
}

/** Somebody whose signature it needs, but for a script, has not given it. */
export function isUnsigned(tx: Tx): boolean {
  if (!scriptedAccounts.some(({ address }) => equal(address, tx.sender))) return false;
  return [provenOf(tx), ...(tx.def.carried?.(tx) ?? [])].some(
    ({ publicKey, message, proofs: [proof, ...more] }) =>
      proof === undefined || more.length > 0 || !family.verify(publicKey, message, proof),
  );
}
