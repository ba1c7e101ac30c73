"""A missing library: one line that names the extra."""

from __future__ import annotations

import pytest

from fiveup_env.system.optional import MissingLibraryError, library, needs


def test_one_line_names_the_extra() -> None:
    with pytest.raises(MissingLibraryError) as caught, library("torchrl"):
        import a_library_that_is_not_there.inside  # noqa: F401
    assert str(caught.value) == "a_library_that_is_not_there is not installed: pip install 'fiveup-env[torchrl]'"


def test_a_missing_module_of_this_package_is_a_bug() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught, library("torchrl"):
        import fiveup_env.no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingLibraryError)


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), library("torchrl"):
        _ = 1 / 0


def test_a_script_ends_with_that_line() -> None:
    with pytest.raises(SystemExit, match=r"^a_library_that_is_not_there is not installed: pip install "), needs("jax"):
        import a_library_that_is_not_there  # noqa: F401
