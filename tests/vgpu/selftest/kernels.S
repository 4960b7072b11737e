// kernels.S - the kernels of the self-tests: only names. The model simulates their time and does not run them.
	.text
	.macro kernel name
	.globl \name
	.p2align 8
	.type \name,@function
\name:
	s_endpgm
	.size \name, .-\name
	.rodata
	.p2align 6
	.amdhsa_kernel \name
	  .amdhsa_next_free_vgpr 4
	  .amdhsa_next_free_sgpr 8
#ifdef HAS_ACCUM
	  .amdhsa_accum_offset 4
#endif
	.end_amdhsa_kernel
	.text
	.endm
#ifdef SWAPPED
	kernel vg_other
	kernel vg_long
	kernel vg_random
	kernel vg_short
	kernel vg_none
	kernel vg_slow
#else
	kernel vg_short
	kernel vg_long
	kernel vg_random
	kernel vg_other
	kernel vg_none
	kernel vg_slow
#endif
