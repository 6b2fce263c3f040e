"""Arrays of other programs: whole, or refused."""

from pathlib import Path

import numpy as np
import pytest

from embedlab.core.frame_files import read_npy


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i2", "|b1", "<c8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_read_as_it_was_written(
    version: tuple[int, int], dtype: str, order: str, tmp_path: Path
) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype, order=order)
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    found = read_npy(tmp_path / "a.npy")
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found, array)


def test_whatever_byte_is_damaged_it_is_an_array_or_a_value_error(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.ones((3, 4), np.float32))
    whole = path.read_bytes()
    refused = []
    for place in range(128):
        for byte in (0, 10, 39, 57, 255):
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            try:
                assert read_npy(path).nbytes <= len(whole)
            except ValueError as error:
                refused.append(str(error))
    assert len(refused) > 200
    assert not any("\n" in message for message in refused)


@pytest.mark.parametrize("length", [0, 5, 6, 8, 9, 10, 127, 128, 175])
def test_a_file_that_was_cut_is_refused(length: int, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.ones((3, 4), np.float32))
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ValueError, match="damaged"):
        read_npy(path)


def test_a_header_that_states_more_than_memory_takes_no_memory(tmp_path: Path) -> None:
    header = {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**9)}
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(ValueError, match="damaged"):
        read_npy(tmp_path / "a.npy")


@pytest.mark.parametrize("array", [np.array([{}], object), np.array(["a"])])
def test_what_is_not_numbers_is_refused(array: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(ValueError, match="of numbers"):
        read_npy(tmp_path / "a.npy")
