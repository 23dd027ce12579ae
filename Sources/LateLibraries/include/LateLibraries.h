// SPDX-License-Identifier: Apache-2.0
// Nothing to import: the functions are declared by the headers of their libraries.
