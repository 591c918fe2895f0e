/**
 * Whether blocks are final, as answers say it (finality.md): a member `final` where the feature is active on the chain, and
 * nothing elsewhere, so that answers of other networks stay as they were.
 */
import { finalFloor } from '../chain/finality/final-floor.ts';
import { Type } from '../rest-framework/type.ts';
import { activationHeight, feature } from '../tx/rules/features.ts';
import type { Services } from './services.ts';

export type MarkNeeds = Pick<Services, 'view' | 'rules' | 'consensus' | 'height'>;

/** Of blocks and transactions; absent where nobody votes on blocks. */
export const Final = Type.Optional(Type.Boolean());

/** Height of the highest final block, 0 where there is none yet; undefined where nobody votes. */
export function finalHeight({ view, rules, consensus, height }: MarkNeeds): number | undefined {
  if (consensus.type !== 'poa') return undefined;
  const from = activationHeight(view, feature.finality, rules);
  return from === undefined || from > height() ? undefined : finalFloor(view);
}

/** What the answer about a block at this height has in addition. */
export const finalMember = (height: number, highest: number | undefined): { final?: boolean } =>
  highest === undefined ? {} : { final: height <= highest };

/** The printed object, with the member at its end. */
export const withFinal = (text: string, height: number, highest: number | undefined): string =>
  highest === undefined ? text : `${text.slice(0, -1)},"final":${height <= highest}}`;
