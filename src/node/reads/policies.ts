/** Policies for the API: who may have which data. The data themselves are with the privacy service. */
import type { PolicyReads, PolicyView } from '../../api/reads.ts';
import {
  allPolicies,
  hashesOf,
  membersOf,
  OWNER,
  type Policy,
  policyOf,
  RECIPIENT,
} from '../../ledger/policies.ts';
import type { ChainState } from './chain-state.ts';
import { isId } from './ids.ts';
import { listMax } from './page.ts';

export function policyReads({ view }: ChainState): PolicyReads {
  const shown = (policyId: Uint8Array, { name, description }: Policy): PolicyView => ({
    policyId,
    name,
    description,
    recipients: membersOf(view, policyId, RECIPIENT),
    owners: membersOf(view, policyId, OWNER),
  });
  return {
    *list() {
      for (const [policyId, policy] of allPolicies(view, listMax)) yield shown(policyId, policy);
    },
    get(policyId) {
      const policy = isId(policyId) ? policyOf(view, policyId) : undefined;
      return policy && shown(policyId, policy);
    },
    hashes: (policyId) => (isId(policyId) ? hashesOf(view, policyId, listMax) : []),
  };
}
