// Each family does what the rest of the node relies on, and the setting selects it.
import t from 'tap';
import { availableFamilies, configuredFamily, createFamily } from '../../src/crypto/families.ts';
import { familyCompliance } from '../compliance/family.ts';

for (const name of availableFamilies) {
  familyCompliance(t, name, (options) => createFamily(name, options));
}

t.test('the setting chooses the family, which tells the setting', async (t) => {
  const chosen = [true, false].flatMap((platformCrypto) => {
    try {
      const family = configuredFamily(platformCrypto);
      t.equal(family.platformCrypto, platformCrypto);
      return [family.name];
    } catch (error) {
      t.match(error, { message: /^the \w+ family is not available$/ });
      return [];
    }
  });
  t.same(chosen, availableFamilies);
});
