"""What tests share: cases, derivations to hold them against, mutations and sabotage."""
