// Each family does what the rest of the node relies on, and the setting selects it.
import t from 'tap';
import { configuredFamily, createFamily, familyNames } from '../../src/crypto/families.ts';
import { familyCompliance } from '../compliance/family.ts';

for (const name of familyNames) {
  familyCompliance(t, name, (options) => createFamily(name, options));
}

t.test('the setting chooses the family, which tells the setting', async (t) => {
  const chosen = [true, false].map((platformCrypto) => {
    const family = configuredFamily(platformCrypto);
    t.equal(family.platformCrypto, platformCrypto);
    return family.name;
  });
  t.same(chosen, familyNames);
});
