/** Random valid and invalid transactions of all types, as users might send them. */
import type { LedgerView } from '../../../src/ledger/ledger.ts';
import { asSent } from '../../../src/tx/members.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import { miners } from '../../chain/chain-harness.ts';
import {
  type Action,
  type Attempt,
  actions,
  newScene,
  type Scene,
  sign,
} from '../../generators/actions.ts';
import { faults } from '../../generators/faults.ts';
import { type EarlierMembers, groupOf } from '../../generators/groups.ts';
import { type ExtremesOf, outsized } from '../../generators/outsized.ts';
import { Rng } from '../../generators/random.ts';
import { GroupLoad } from './group-load.ts';
import { ScriptLoad } from './script-load.ts';
import { LENGTH_MS, type Member } from './settings.ts';

export interface Workload {
  readonly scripts: ScriptLoad;
  readonly groups: GroupLoad;
  /** A signed transaction; about one in five breaks a rule. `view`: the state of some node. */
  next(now: number, view: LedgerView): Attempt;
  /** The first miner, who manages the connections, lets a node in or shuts it out. */
  register(now: number, member: Member, opType: 'add' | 'remove'): Tx;
}

const BAD_ONE_IN = 5;
const CONTRACTS_ONE_IN = 3;
const SCRIPTED_ONE_IN = 4;
const GROUPS_ONE_IN = 6;
/** Those that run contracts. */
const RUNNING_GROUPS_ONE_IN = 3;
/** The largest and smallest that there are. */
const OUTSIZED_ONE_IN = 50;

export function createWorkload(seed: number): Workload {
  const rng = new Rng(seed);
  const scene = newScene(rng);
  scene.generator = miners[0]!;
  const known: ExtremesOf = new Map();
  const earlier: EarlierMembers = new Map();
  const scripts = new ScriptLoad(new Rng(rng.u32()), scene);
  const groups = new GroupLoad(scene);
  const good = Object.values(actions);
  const ofContracts = [103, 104, 104, 104, 104, 106, 107].map((type) => actions[type]!);
  const bad = Object.values(faults).map(
    (fault): Action =>
      (scene) =>
        fault(scene, scene.now - LENGTH_MS),
  );

  function at(now: number): Scene {
    // Users send what they have just made.
    return Object.assign(scene, { now: now - 500 });
  }

  return {
    scripts,
    groups,
    next(now, view) {
      if (rng.chance(RUNNING_GROUPS_ONE_IN)) {
        at(now);
        return groups.next(view);
      }
      if (rng.chance(SCRIPTED_ONE_IN)) return scripts.next(now - 500);
      const group = rng.chance(GROUPS_ONE_IN) ? groupOf(at(now), earlier) : undefined;
      if (group !== undefined) return group;
      for (;;) {
        const make = rng.pick(
          rng.chance(BAD_ONE_IN) ? bad : rng.chance(CONTRACTS_ONE_IN) ? ofContracts : good,
        );
        const attempt = asUser(make(at(now)));
        if (attempt === undefined || isEndOfNetwork(attempt.tx)) continue;
        const tx = rng.chance(OUTSIZED_ONE_IN) ? outsized(attempt.tx, rng, known) : undefined;
        return tx === undefined ? attempt : { tx };
      }
    },
    register(now, { account, name }, opType) {
      const nodeName = opType === 'add' ? name : '';
      const input = { targetPubKey: account.publicKey, nodeName, opType };
      return sign(at(now), registerNode, miners[0]!, 1, input);
    },
  };
}

/** Users send what a miner executes; the generators make what blocks hold. */
const asUser = (attempt: Attempt | undefined): Attempt | undefined =>
  attempt && { ...attempt, tx: asSent(attempt.tx) };

/** Where the quorum is a number, that many miners are needed; role-load.ts takes them elsewhere. */
const isEndOfNetwork = ({ def, fields }: Tx): boolean =>
  def.type === permit.type && fields['role'] === 'miner' && fields['opType'] === 'remove';
