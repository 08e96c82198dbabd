/** Grows with every change after which the rules decide something otherwise on the same state: contexts of decisions name it. */
export const rulesVersion = 1;
