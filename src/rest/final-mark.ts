/**
 * Whether blocks are final, as answers say it (finality.md): a member `final` where the feature is active on the chain, and
 * nothing elsewhere, so that answers of other networks stay as they were.
 */
import { finalFloor } from '../chain/finality/final-floor.ts';
import type { Tip } from '../chain/tip.ts';
import { Type } from '../rest-framework/type.ts';
import { activationHeight, feature } from '../tx/rules/features.ts';
import type { Services } from './services.ts';

export type MarkNeeds = Pick<Services, 'view' | 'rules' | 'consensus' | 'tip'>;

/** The member of blocks and transactions; absent where nobody votes on blocks. */
export const Final = Type.Optional(Type.Boolean());

/** Height of the highest final block, 0 where there is none yet; undefined where nobody votes. */
export function finalHeight(services: MarkNeeds): number | undefined {
  const isOfVoters = services.consensus.type === 'poa' && hasVoters(services.tip(), services);
  return isOfVoters ? finalFloor(services.view) : undefined;
}

/** The result for each last block, because each answer about a block or a transaction needs it. */
const known = new WeakMap<Tip, boolean>();

function hasVoters(tip: Tip, { view, rules }: Pick<MarkNeeds, 'view' | 'rules'>): boolean {
  const before = known.get(tip);
  if (before !== undefined) return before;
  const from = activationHeight(view, feature.finality, rules);
  const isActive = from !== undefined && from <= tip.height;
  known.set(tip, isActive);
  return isActive;
}

/** What the answer about a block at this height has in addition. */
export const finalMember = (height: number, highest: number | undefined): { final?: boolean } =>
  highest === undefined ? {} : { final: height <= highest };

/** The printed object, with the member at its end. */
export const withFinal = (text: string, height: number, highest: number | undefined): string =>
  highest === undefined ? text : `${text.slice(0, -1)},"final":${height <= highest}}`;
